"""Exit statuses of programs in the results of a course's driver: where they stand, and what they say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.coursesyntax import parsed
from grader.harness import structure
from grader.harness.driver_calls import imported_names
from grader.model.exit_status import ending, is_of_signal

if TYPE_CHECKING:
    import ast

    from grader.harness.compare import Comparison


DEEPEST = 6
"""How many calls deep functions of the course are followed."""


def exit_statuses(course_files: Path, module: str, function: str) -> frozenset[structure.Path]:
    """Return the places in a function's result at which the exit status of a program stands.

    That is what the function returns as `….returncode`, by itself or in a list, tuple or dict. It is followed
    through variables and their unpacking, elements by a constant index, and calls of functions in the
    course's files with their arguments. A file that cannot be read gives nothing.
    """
    reader = _Reader(course_files)
    defined = reader.functions(module)
    return reader.returned(module, defined[function], {}, 0) if function in defined else frozenset()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Scope:
    """One call of a function: what its names stand for."""

    module: str
    depth: int
    inner: Mapping[str, ast.FunctionDef]
    """Functions that are defined in it."""
    variables: Mapping[str, Sequence[tuple[ast.expr, _Scope]]]
    """Expressions that are assigned to a name, and where their own names are looked up."""


class _Reader:
    """Follows expressions through the functions of the course's files."""

    def __init__(self, course_files: Path) -> None:
        self._course_files = course_files
        self._places: dict[tuple[ast.expr, _Scope], frozenset[structure.Path]] = {}
        """What is known; nothing of an expression that is being followed, as in a recursion."""

    def functions(self, module: str) -> dict[str, ast.FunctionDef]:
        """Return the functions that a file of the course defines."""
        import ast

        return {node.name: node for node in self._tree(module).body if isinstance(node, ast.FunctionDef)}

    def _tree(self, module: str) -> ast.Module:
        return parsed(self._course_files / f"{module.replace('.', '/')}.py")

    def returned(
        self,
        module: str,
        function: ast.FunctionDef,
        arguments: Mapping[str, tuple[ast.expr, _Scope]],
        depth: int,
    ) -> frozenset[structure.Path]:
        """Return the places in what a function of a file returns, called with these arguments."""
        import ast

        nodes = list(_own_nodes(function))
        inner = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
        variables = {name: [argument] for name, argument in arguments.items()}
        scope = _Scope(module=module, depth=depth, inner=inner, variables=variables)
        for node in nodes:
            for name, value in _assigned(node):
                variables.setdefault(name, []).append((value, scope))
        returned = (node.value for node in nodes if isinstance(node, ast.Return) and node.value)
        return frozenset().union(*(self._of(value, scope) for value in returned))

    def _of(self, node: ast.expr, scope: _Scope) -> frozenset[structure.Path]:
        key = node, scope
        if key not in self._places:
            self._places[key] = frozenset()
            self._places[key] = frozenset(self._found(node, scope))
        return self._places[key]

    def _found(self, node: ast.expr, scope: _Scope) -> Iterator[structure.Path]:
        """Yield the places of exit statuses in what an expression makes."""
        import ast

        match node:
            case ast.Attribute(attr="returncode"):
                yield ()
            case ast.Name(id=name):
                for value, where in scope.variables.get(name, ()):
                    yield from self._of(value, where)
            case ast.BinOp(left=part, op=ast.Add()) | ast.NamedExpr(value=part):
                yield from self._of(part, scope)
            case ast.IfExp(body=body, orelse=otherwise):
                yield from self._of(body, scope) | self._of(otherwise, scope)
            case ast.Subscript(value=value, slice=ast.Constant(value=step)):
                yield from (path[1:] for path in self._of(value, scope) if path[:1] == (step,))
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                yield from self._of_elements(elements, scope)
            case ast.Dict():
                yield from self._of_items(node, scope)
            case ast.Call(func=ast.Name(id="list" | "tuple" | "dict"), args=[sequence], keywords=[]):
                yield from self._of(sequence, scope)
            case ast.Call(func=ast.Name() | ast.Attribute()):
                yield from self._of_call(node, scope)

    def _of_elements(self, elements: Sequence[ast.expr], scope: _Scope) -> Iterator[structure.Path]:
        """Yield the places in a list or tuple, up to the first `*values`, whose length is unknown."""
        import ast

        for step, element in enumerate(elements):
            if isinstance(element, ast.Starred):
                for first, *rest in filter(None, self._of(element.value, scope)):
                    if isinstance(first, int):
                        yield (step + first, *rest)
                return
            yield from ((step, *path) for path in self._of(element, scope))

    def _of_items(self, node: ast.Dict, scope: _Scope) -> Iterator[structure.Path]:
        """Yield the places in a dict whose keys are constants."""
        import ast

        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str | int):
                yield from ((key.value, *path) for path in self._of(value, scope))

    def _of_call(self, call: ast.Call, scope: _Scope) -> frozenset[structure.Path]:
        """Return the places in the result of a function of the course's files."""
        import ast

        root, dot, rest = ast.unparse(call.func).partition(".")
        names = dict(imported_names(self._tree(scope.module)))
        module, _, name = f"{names.get(root, f'{scope.module}.{root}')}{dot}{rest}".rpartition(".")
        function = self.functions(module).get(name)
        if not dot and root in scope.inner:
            module, function = scope.module, scope.inner[root]
        if function is None or scope.depth >= DEEPEST:
            return frozenset()
        parameters = [parameter.arg for parameter in function.args.args]
        arguments = {word.arg: (word.value, scope) for word in call.keywords if word.arg}
        for parameter, value in zip(parameters, _positional(call.args, len(parameters)), strict=False):
            arguments[parameter] = value, scope
        return self.returned(module, function, arguments, scope.depth + 1)


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, without those of functions and classes in it."""
    import ast

    pending: list[ast.AST] = [*function.body]
    for node in pending:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield names that a node assigns, each with its expression: of an unpacking, an element."""
    import ast

    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield from _unpacked(target, value)


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    import ast

    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        for step, element in enumerate(target.elts):
            if isinstance(element, ast.Starred):
                return
            yield from _unpacked(element, _element(value, step))


def _element(value: ast.expr, step: int) -> ast.expr:
    import ast

    return ast.Subscript(value=value, slice=ast.Constant(value=step), ctx=ast.Load())


def _positional(arguments: Sequence[ast.expr], count: int) -> Iterator[ast.expr]:
    """Yield the positional arguments of a call, at most `count`; of `*values`, its elements."""
    import ast

    for position, argument in enumerate(arguments):
        if isinstance(argument, ast.Starred):
            yield from (_element(argument.value, step) for step in range(count - position))
            return
        yield argument


def with_status(
    compared: Comparison, returned: Any, expected: Any, places: Collection[structure.Path]
) -> Comparison:
    """Return a comparison that says what of the first difference is the exit status of a program.

    A signal that ended it is told first, and alone: what it has printed, or has not, follows from that.
    """
    for path in () if compared.agrees else places:
        try:
            status, right = returned, expected
            for step in path:
                status, right = status[step], right[step]
        except (IndexError, KeyError, TypeError):
            continue
        if type(status) is int and right == 0 and is_of_signal(status):
            note = f"{structure.place(path)}: got {status}, expected 0; the program {ending(status)}"
            return replace(compared, note=note.removeprefix(": "), symptom=None, at=path)
        place = structure.place(path)
        if type(status) is int and compared.note.startswith(f"{place}: got {status}, ".removeprefix(": ")):
            return replace(compared, note=f"{compared.note}; {place or 'that'} is the program's exit status")
    return compared
