"""Declarations of shared memory in C++: `__shared__` arrays as references to what belongs to the block."""

from __future__ import annotations

from collections.abc import Sequence

from .tokens import Token, closing_index, next_index, previous_index, split_at_commas

_STATIC = (
    "static const char sim_at_{name} = 0; sim_of_{name} &{name} ="
    ' *static_cast<sim_of_{name} *>(sim::shared(&sim_at_{name}, sizeof(sim_of_{name}), "{name}"));'
)
_STATIC_OF_FILE = (
    "static const sim::SharedOfFile<std::remove_extent_t<sim_of_{name}>, sizeof(sim_of_{name})>"
    ' {name}{{"{name}"}};'
)
_DYNAMIC = "sim_of_{name} *const {name} = static_cast<sim_of_{name} *>(sim::dynamic_shared());"
_DYNAMIC_OF_FILE = "static const sim::DynamicOfFile<sim_of_{name}> {name}{{}};"
_DROPPED = {"__shared__", "extern", "static"}
_ALIGNMENT = {"alignas", "__align__"}
"""All shared memory is aligned as well as can be."""


def with_shared(tokens: Sequence[Token], *, in_function: bool = False) -> list[Token]:
    """Write every declaration of shared memory in C++'s words, and move no line.

    Its arrays are other ones in every block, which is what lets several blocks run side by side.
    """
    done: list[Token] = []
    scopes = [in_function]
    begin = 0  # of the present statement, in `done`
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.text == "__shared__" and (end := _end(tokens, i)) >= 0:
            declaration = [*done[begin:], *tokens[i:end]]
            done[begin:] = _declared(declaration, in_function=scopes[-1])
            i = end
            token = tokens[i]
        elif token.text == "__shared__":
            i += 1
            continue
        done.append(token)
        if token.kind == "sign" and token.text == "{":
            scopes.append(scopes[-1] or not _opens_namespace(done))
        elif token.kind == "sign" and token.text == "}" and len(scopes) > 1:
            scopes.pop()
        if token.kind == "directive" or (token.kind == "sign" and token.text in {";", "{", "}", ":"}):
            begin = len(done)
        i += 1
    return done


def _end(tokens: Sequence[Token], at: int) -> int:
    """Return the index of the semicolon that ends the declaration; -1 in a list of parameters."""
    while at < len(tokens):
        if tokens[at].text == ";":
            return at
        if tokens[at].text == ")":
            return -1
        if tokens[at].text in {"(", "[", "{"}:
            at = closing_index(tokens, at)
            if at < 0:
                return -1
        at += 1
    return -1


def _opens_namespace(tokens: Sequence[Token]) -> bool:
    """Tell whether the bracket at the end begins a namespace or extern "C"."""
    at = previous_index(tokens, len(tokens) - 2)
    while at >= 0 and (tokens[at].kind in {"name", "text"} or tokens[at].text == "::"):
        if tokens[at].text == "namespace":
            return True
        if tokens[at].text == "extern":
            return tokens[previous_index(tokens, len(tokens) - 2)].kind == "text"
        at = previous_index(tokens, at - 1)
    return False


def _declared(tokens: Sequence[Token], *, in_function: bool) -> list[Token]:
    dynamic = any(token.text == "extern" for token in tokens)
    typedef: list[Token] = []
    names: list[tuple[str, bool]] = []
    for part in split_at_commas(_without_specifiers(tokens)):
        renamed, name, array = _renamed(part, dynamic=dynamic)
        typedef += [*([Token("sign", ",")] if names else []), *renamed]
        names.append((name, array))
    blanks = next_index(typedef, 0)
    typedef.insert(blanks, Token("name", "typedef "))
    variables = []
    for name, array in names:
        if dynamic:
            form = _DYNAMIC if in_function else _DYNAMIC_OF_FILE
        else:
            form = _STATIC if in_function or not array else _STATIC_OF_FILE
        variables.append(form.format(name=name))
    # the semicolon behind it is the declaration's own
    return [*typedef, Token("sign", "; " + " ".join(variables).removesuffix(";"))]


def _without_specifiers(tokens: Sequence[Token]) -> list[Token]:
    declaration: list[Token] = []
    i = 0
    while i < len(tokens):
        if tokens[i].text in _ALIGNMENT:
            i = closing_index(tokens, next_index(tokens, i + 1)) + 1
        elif tokens[i].text in _DROPPED:
            i += 1
        else:
            declaration.append(tokens[i])
            i += 1
    return declaration


def _renamed(part: Sequence[Token], *, dynamic: bool) -> tuple[list[Token], str, bool]:
    """Return a declarator with a name for its type in place of its own; that one; whether it is an array.

    Of dynamic memory the type of an element is wanted: the first dimension, which has no size, is left out.
    """
    at, name_at, bracket = 0, -1, -1
    while at < len(part):
        if part[at].text == "[" and bracket < 0:
            bracket = at
        if part[at].text in {"(", "[", "{"}:
            at = max(closing_index(part, at), at)
        elif part[at].kind == "name" and bracket < 0:
            name_at = at
        at += 1
    if name_at < 0:
        return list(part), "", False
    name = part[name_at].text
    behind = list(part[name_at + 1 :])
    if dynamic and bracket >= 0:
        behind = list(part[closing_index(part, bracket) + 1 :])
    return [*part[:name_at], Token("name", f"sim_of_{name}"), *behind], name, bracket >= 0
