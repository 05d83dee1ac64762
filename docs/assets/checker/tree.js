// The fields of a file as a tree. A level is asked of the worker when it is opened, so that a file may have any number of fields.
// Details and radio buttons work with any keyboard and reader of screens.
import { count, el } from "./dom.js";

const text = (node, name) => (node.value === undefined ? name : `${name} = ${node.value}`);

export class Tree {
  constructor(judge, chosen) {
    Object.assign(this, { judge, chosen, file: "", words: "", turn: 0, isPicked: false });
    this.box = el("div", { class: "checker-tree", role: "group", "aria-label": "Fields" });
  }

  // Shows a file from its root, or what is found in it; resolves with why there is nothing, if so.
  async show(file, words = "") {
    const mine = ++this.turn;
    Object.assign(this, { file, words: words.trim(), isPicked: false });
    const level = this.words ? await this.judge.ask("search", { words, file }) : await this.judge.ask("level", { path: "", file });
    if (mine !== this.turn) return "";
    this.box.replaceChildren(...this.#rows(level, ""));
    if (this.words && !level.nodes.length) this.box.append("No field has all these words in its path.");
    return level.why;
  }

  // Opens everything above a field and chooses it, unless the user picked one meanwhile; nothing if there is none.
  async reveal(path) {
    let box = this.box;
    for (;;) {
      const own = [...box.querySelectorAll(":scope > label > input")].find(({ value }) => value === path);
      if (own && this.isPicked) return;
      if (own) {
        own.checked = true;
        this.#choose(own);
        this.box.scrollTop += own.getBoundingClientRect().top - this.box.getBoundingClientRect().top - this.box.clientHeight / 2;
        return;
      }
      const above = [...box.querySelectorAll(":scope > details")].find(({ dataset }) => path === dataset.path || (path.startsWith(dataset.path) && ".[:".includes(path[dataset.path.length])));
      if (!above) return;
      await this.#open(above);
      above.open = true;
      box = above.lastElementChild;
    }
  }

  #rows({ nodes, more }, path, start = 0) {
    const rows = nodes.map((node) => (node.is_branch ? this.#branch(node) : this.#leaf(node, node.name)));
    if (!more) return rows;
    if (path === "" && this.words) return [...rows, el("p", {}, `… ${count(more, "more field")}`)];
    const next = start + nodes.length;
    const button = el("button", { type: "button" }, `${more.toLocaleString("en")} more`);
    button.addEventListener("click", async () => {
      const level = await this.judge.ask("level", { path, file: this.file, start: next });
      button.replaceWith(...this.#rows(level, path, next));
    });
    return [...rows, button];
  }

  #leaf(node, name) {
    if (!node.can_change) return el("p", { title: node.path }, text(node, name));
    const input = el("input", { type: "radio", name: "field", value: node.path });
    input.node = node;
    input.addEventListener("change", () => {
      this.isPicked = true;
      this.#choose(input);
    });
    return el("label", { title: node.path }, input, ` ${text(node, name)}`);
  }

  #branch(node) {
    const below = el("div", {});
    const details = el("details", { "data-path": node.path }, el("summary", {}, node.name, " ", el("small", {}, count(node.fields, "field"))), below);
    if (node.is_field) below.append(this.#leaf(node, node.can_change ? "the whole of it" : "its value"));
    details.addEventListener("toggle", () => details.open && this.#open(details));
    return details;
  }

  // Fills a branch the first time that it is opened.
  #open(details) {
    details.filled ??= this.judge
      .ask("level", { path: details.dataset.path, file: this.file })
      .then((level) => details.lastElementChild.append(...this.#rows(level, details.dataset.path)));
    return details.filled;
  }

  #choose(input) {
    this.chosen(input.node);
  }
}
