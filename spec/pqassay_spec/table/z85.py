"""Z85: an encoding of four bytes as five printable characters.

    >>> decode("HelloWorld").hex()
    '864fd26fb559f75b'

Source: ZeroMQ RFC 32.
"""

from __future__ import annotations

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
"""The characters for the numbers from 0 to 84."""

BYTES, CHARACTERS = 4, 5

_VALUES = {character: value for value, character in enumerate(ALPHABET)}


def decode(text: str) -> bytes:
    """Decode a text to bytes.

    Raises:
        ValueError: It is not Z85.
    """
    if len(text) % CHARACTERS:
        raise ValueError(f"{len(text)} characters are not a multiple of {CHARACTERS}")
    result = bytearray()
    for start in range(0, len(text), CHARACTERS):
        number = 0
        for character in text[start : start + CHARACTERS]:
            value = _VALUES.get(character)
            if value is None:
                raise ValueError(f"{character!r} is not one of its characters")
            number = number * len(ALPHABET) + value
        if number >> 8 * BYTES:
            raise ValueError(f"{text[start : start + CHARACTERS]!r} is more than {BYTES} bytes")
        result += number.to_bytes(BYTES, "big")
    return bytes(result)


def encode(data: bytes) -> str:
    """Encode bytes, whose number is a multiple of four, as text.

    >>> encode(bytes.fromhex("864fd26fb559f75b"))
    'HelloWorld'
    """
    characters: list[str] = []
    for start in range(0, len(data), BYTES):
        number = int.from_bytes(data[start : start + BYTES], "big")
        group: list[str] = []
        for _ in range(CHARACTERS):
            number, value = divmod(number, len(ALPHABET))
            group.append(ALPHABET[value])
        characters.extend(reversed(group))
    return "".join(characters)
