"""The sections of guide pages about findings, and the programs in them.

A section begins with its title and a line with the software, the observation, and the rules:

### No page holds any value

**parquet-go 0.32.0** · severity 1, wrong rows from a valid file · [PIX-081](../spec/page_index.md#pix-081)

Its programs are blocks of code, and a block of text has the output of the programs before it. Programs for a library outside Python are
built offline, with the build results of that library's driver.

Every program runs in a process with a time limit, since libraries may hang on damaged files. Programs for Spark run in this process, since
they share a session; there Java reads the files.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from python_programs import PythonPrograms

from pqassay_suite.drivers.implementations import Implementation, implementation

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ROOT / "docs" / "guide"
READERS = GUIDES / "findings-readers.md"
WRITERS = GUIDES / "findings-writers.md"
SPARK = "Spark"

SECONDS = 60.0
"""The time limit in seconds of a program in another language than Python; an idle machine needs less than a twentieth."""

BUILD_SECONDS = 400.0
"""The time limit in seconds for building programs."""

_SECTION = re.compile(r"^### ", re.MULTILINE)
_FACTS = re.compile(
    r"\*\*(?P<who>[^*\n]+)\*\* · severity (?P<severity>\d), (?P<observed>[^·\n]+) · (?P<rules>[^\n]+)\n"
)
_BLOCK = re.compile(
    r"^```(?P<language>python|go|rust|java|js|text)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_GO_MODULES = {"github.com/parquet-go/parquet-go": "parquet-go", "github.com/apache/arrow-go/": "arrow-go"}


@dataclass(frozen=True)
class Program:
    """A block of code.

    Attributes:
        language: The language of the block.
        text: The code.
    """

    language: str
    text: str

    @property
    def needs(self) -> str | None:
        """The driver whose library it uses, or `SPARK`; ``None`` if Python distributions suffice."""
        if self.language == "python":
            return SPARK if "spark." in self.text else None
        if self.language == "go":
            return next(name for module, name in _GO_MODULES.items() if f'"{module}' in self.text)
        if self.language == "js":
            return "hyparquet-writer" if "'hyparquet-writer'" in self.text else "hyparquet"
        if self.language == "java":
            return "hardwood" if "import dev.hardwood." in self.text else "parquet-java"
        return "parquet-rs"


@dataclass(frozen=True)
class Demonstration:
    """Programs that are run one after another in one folder.

    Attributes:
        programs: In order.
        printed: The output on the page.
    """

    programs: tuple[Program, ...]
    printed: str

    @property
    def needs(self) -> frozenset[str]:
        """The needs of its programs, see `Program.needs`."""
        return frozenset(program.needs for program in self.programs if program.needs)


@dataclass(frozen=True)
class Finding:
    """A section.

    Attributes:
        title: Its title.
        software: Names with their versions.
        severity: The observed severity, see ``pqassay.report.run.model.SEVERITIES``.
        observed: The observation in words.
        rules: Ids of the rules, as links.
        text: The text below the title.
        page: The page.
    """

    title: str
    software: tuple[str, ...]
    severity: int
    observed: str
    rules: str
    text: str
    page: Path

    @property
    def anchor(self) -> str:
        """The anchor of the section on its page."""
        return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", self.title.lower())).strip("-")

    @cached_property
    def demonstrations(self) -> tuple[Demonstration, ...]:
        """Its programs with their output on the page."""
        return tuple(_demonstrations(self.text))


def _demonstrations(text: str) -> Iterator[Demonstration]:
    programs: list[Program] = []
    for block in _BLOCK.finditer(text):
        if block["language"] != "text":
            programs.append(Program(block["language"], block["text"]))
        elif programs:
            yield Demonstration(tuple(programs), block["text"])
            programs = []
    if programs:
        raise ValueError(f"no block says what this prints: {programs[0].text}")


def findings(page: Path) -> list[Finding]:
    """The sections of a page, in order.

    Raises:
        ValueError: A section lacks the line of facts, or a program lacks its output.
    """
    sections: list[Finding] = []
    for section in _SECTION.split(page.read_text("utf-8"))[1:]:
        title, _, text = section.partition("\n")
        facts = _FACTS.match(text.lstrip("\n"))
        if facts is None:
            raise ValueError(f"{page.name}: {title!r} does not begin with its software, severity and rules")
        who, severity, observed, rules = facts.groups()
        sections.append(Finding(title, tuple(who.split(", ")), int(severity), observed, rules, text, page))
    return sections


def helpers(page: Path) -> list[Program]:
    """The code before the first section of a page, which its programs use."""
    before, *_ = _SECTION.split(page.read_text("utf-8"))
    return [Program(block["language"], block["text"]) for block in _BLOCK.finditer(before)]


Built = Mapping[Program, Sequence[str]]
"""The command that runs a program."""


@dataclass
class Workshop:
    """The place where programs are built and run.

    Attributes:
        folder: A folder for this purpose only.
        spark: Creates the session that programs call ``spark``.
        seconds: The time limit of a program in another language than Python.
    """

    folder: Path
    spark: Callable[[], Any] | None = None
    seconds: float = SECONDS
    _built: dict[str, Built] = field(default_factory=dict[str, "Built"])

    def __enter__(self) -> Self:
        self._python.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._python.close()

    @cached_property
    def _python(self) -> PythonPrograms:
        return PythonPrograms(self.folder / "python")

    @cached_property
    def _programs(self) -> list[Program]:
        return [
            program
            for page in (READERS, WRITERS)
            for finding in findings(page)
            for demonstration in finding.demonstrations
            for program in demonstration.programs
        ]

    @cached_property
    def _helpers(self) -> list[Program]:
        return [*helpers(READERS), *helpers(WRITERS)]

    def printed(self, demonstration: Demonstration, place: Path) -> str:
        """Run programs in a folder with the golden files.

        Args:
            demonstration: The programs.
            place: The folder, which is the current folder of each program.

        Returns:
            Their output, or why a program fails or exceeds its time.

        Raises:
            ValueError: A program cannot be built.
        """
        return "".join(self._printed(program, place) for program in demonstration.programs)

    def _printed(self, program: Program, place: Path) -> str:
        if program.language != "python":
            return printed_by(self._command(program), place, self.seconds)
        texts = [*(one.text for one in self._helpers if one.language == "python"), program.text]
        if program.needs != SPARK:
            return self._python.printed(texts, place)
        names: dict[str, Any] = {} if self.spark is None else {"spark": self.spark()}
        stream = io.StringIO()
        with contextlib.chdir(place), contextlib.redirect_stdout(stream):
            for text in texts:
                exec(text, names)
        return stream.getvalue()

    def _command(self, program: Program) -> Sequence[str]:
        """The command of a program, which is built together with all others for the same library."""
        name = program.needs
        assert name is not None
        if name not in self._built:
            folder = self.folder / name
            folder.mkdir(parents=True)
            mine = list(dict.fromkeys(one for one in self._programs if one.needs == name))
            self._built[name] = _BUILDERS[program.language](
                folder,
                implementation(name),
                mine,
                [one.text for one in self._helpers if (one.language, one.needs) == (program.language, name)],
            )
        return self._built[name][program]


def printed_by(command: Sequence[str], place: Path, seconds: float = SECONDS) -> str:
    """The output of a command in a folder, or why it fails or exceeds its time."""
    try:
        ended = subprocess.run(
            command, cwd=place, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return f"not ended after {seconds:g} s\n"
    if ended.returncode:
        return f"exit status {ended.returncode}\n{ended.stderr}{ended.stdout}"
    return ended.stdout


def _go(folder: Path, driver: Implementation, programs: list[Program], _: list[str]) -> Built:
    """Build one executable with a package for each program, since linking takes longer than compiling."""
    required = [
        line for line in (driver.folder / "go.mod").read_text().splitlines() if "pqassay/protocol" not in line
    ]
    (folder / "go.mod").write_text("\n".join(["module findings", *required[1:], ""]))
    (folder / "go.sum").write_bytes((driver.folder / "go.sum").read_bytes())
    names = [f"finding{number}" for number in range(len(programs))]
    for name, program in zip(names, programs, strict=True):
        (folder / name).mkdir()
        text = program.text.replace("package main\n", f"package {name}\n").replace(
            "func main()", "func Main()"
        )
        (folder / name / "finding.go").write_text(text)
    imports = "".join(f'import "findings/{name}"\n' for name in names)
    cases = "".join(f'\tcase "{name}":\n\t\t{name}.Main()\n' for name in names)
    (folder / "main.go").write_text(
        f'package main\n\nimport "os"\n{imports}\nfunc main() {{\n\tswitch os.Args[1] {{\n{cases}\t}}\n}}\n'
    )
    # With -trimpath, the packages of the driver's build are cached.
    _build(["go", "build", "-trimpath", "-o", "findings", "."], folder, GOPROXY="off", GOFLAGS="-mod=mod")
    return {program: [str(folder / "findings"), name] for name, program in zip(names, programs, strict=True)}


def _rust(folder: Path, driver: Implementation, programs: list[Program], _: list[str]) -> Built:
    """Build one executable for each program, linked with the driver's crates."""
    crates = driver.build_folder / "release" / "deps"
    linked = ["-L", f"dependency={crates}"]
    for crate in ("parquet", "arrow_array"):
        # Builds of other versions leave their own crates there.
        library = max(crates.glob(f"lib{crate}-*.rlib"), key=lambda path: path.stat().st_mtime)
        linked += ["--extern", f"{crate}={library}"]
    commands: dict[Program, Sequence[str]] = {}
    for number, program in enumerate(programs):
        source = folder / f"finding{number}.rs"
        source.write_text(program.text)
        _build(["rustc", "--edition", "2024", *linked, source.name, "-o", source.stem], folder)
        commands[program] = [str(folder / source.stem)]
    return commands


def _java(folder: Path, driver: Implementation, programs: list[Program], shared: list[str]) -> Built:
    """Compile all programs at once; each starts like the driver."""
    names: list[str] = []
    for text in (*shared, *(program.text for program in programs)):
        (name,) = re.findall(r"^final class (\w+)", text, re.MULTILINE)
        (folder / f"{name}.java").write_text(text)
        names.append(name)
    libraries = f"{driver.build_folder}/lib/*"
    own = driver.filled("{java}/bin/")  # of a JDK of the least release, if the driver needs one
    home = own if Path(own).is_dir() else ""
    _build([f"{home}javac", "-proc:none", "-cp", libraries, *(f"{name}.java" for name in names)], folder)
    java = [
        f"{home}java",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xlog:disable",
        "-cp",
        f"{folder}:{libraries}",
    ]
    return {program: [*java, name] for name, program in zip(names[len(shared) :], programs, strict=True)}


def _js(folder: Path, driver: Implementation, programs: list[Program], _: list[str]) -> Built:
    """Write modules beside the packages of the driver."""
    (folder / "node_modules").symlink_to(driver.build_folder / "node_modules")
    commands: dict[Program, Sequence[str]] = {}
    for number, program in enumerate(programs):
        source = folder / f"finding{number}.mjs"
        source.write_text(program.text)
        commands[program] = ["node", str(source)]
    return commands


_BUILDERS = {"go": _go, "rust": _rust, "java": _java, "js": _js}


def _build(command: Sequence[str], folder: Path, **environment: str) -> None:
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"{' '.join(command[:2])} did not end within {BUILD_SECONDS:g} s") from None
    if ended.returncode:
        raise ValueError(f"{' '.join(command[:2])} ended with {ended.returncode}:\n{ended.stderr}")
