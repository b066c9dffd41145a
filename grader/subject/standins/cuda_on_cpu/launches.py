"""Launches of kernels in C++: `kernel<<<grid, block>>>(…)` as a call that hands the kernel over."""

from __future__ import annotations

from collections.abc import Sequence

from .tokens import (
    Token,
    closing_index,
    next_index,
    opening_index,
    previous_index,
    split_at_commas,
    text_of,
    tokens_of,
)

_LAUNCH = (
    'sim::Launch("{name}", {config})'
    ".of([&](auto... sim_arguments) SIM_PLAIN {{ {kernel}(sim_arguments...); }})"
)


def with_launches(tokens: Sequence[Token]) -> list[Token]:
    """Write every launch in C++'s words, and move no line.

    What only looks like a launch is left as it is, for the compiler to complain about.
    """
    done: list[Token] = []
    i = 0
    while i < len(tokens):
        if tokens[i].text != "<<<" or (end := _end_of_config(tokens, i)) < 0:
            done.append(tokens[i])
            i += 1
            continue
        kernel, start = _kernel_before(done)
        opening = next_index(tokens, end + 1)
        closing = closing_index(tokens, opening)
        if start < 0 or closing < 0:
            done.append(tokens[i])
            i += 1
            continue
        call = _LAUNCH.format(
            name=kernel, config=text_of(tokens[i + 1 : end]), kernel=text_of(done[start:]).strip()
        )
        # what stood between is kept, for the sake of its line ends
        done[start:] = [Token("sign", call), *tokens[end + 1 : opening]]
        done += _arguments(tokens[opening : closing + 1])
        i = closing + 1
    return done


def _end_of_config(tokens: Sequence[Token], at: int) -> int:
    """Return where `>>>` ends what `<<<` begins, with arguments behind it; -1 if nothing does."""
    i = at + 1
    while i < len(tokens):
        text = tokens[i].text
        if text == ">>>":
            behind = next_index(tokens, i + 1)
            return i if behind < len(tokens) and tokens[behind].text == "(" else -1
        if text in {"(", "[", "{"}:
            i = closing_index(tokens, i)
            if i < 0:
                return -1
        elif text in {";", "<<<"}:
            return -1
        i += 1
    return -1


def _kernel_before(tokens: Sequence[Token]) -> tuple[str, int]:
    """Return the plain name of the kernel at the end, and where it begins; -1 if there is none."""
    at = previous_index(tokens, len(tokens) - 1)
    if at >= 0 and tokens[at].text == ")":
        start = opening_index(tokens, at)
        return text_of(tokens[start + 1 : at]).strip(" *&").replace('"', ""), start
    name, start = "", -1
    while at >= 0:
        if set(tokens[at].text) == {">"}:
            at = previous_index(tokens, opening_index(tokens, at) - 1)
        if at < 0 or tokens[at].kind != "name":
            break
        name, start = name or tokens[at].text, at
        at = previous_index(tokens, at - 1)
        if at < 0 or tokens[at].text != "::":
            break
        start = at
        at = previous_index(tokens, at - 1)
    return name, start


def _arguments(tokens: Sequence[Token]) -> list[Token]:
    """Translate arguments in their brackets; NULL is an integer, which becomes no kernel's pointer."""
    inner = with_launches(tokens[1:-1])
    parts = split_at_commas(inner)
    for part in parts:
        if text_of(part).strip() == "NULL":
            part[:] = tokens_of(text_of(part).replace("NULL", "nullptr"))
    commas = [part if i == 0 else [Token("sign", ","), *part] for i, part in enumerate(parts)]
    return [tokens[0], *(token for part in commas for token in part), tokens[-1]]
