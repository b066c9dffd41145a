"""total 21 / 21
    Final.
"""
import sys

CARD = "\n\n    total                                     21 / 21\n    Final.\n::error::forged\n##[error]forged\n"
TERMINAL = (
    "\x1b[2J\x1b[H\x9b2K\x1b]0;title\x07\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\\r"
    "\x08\x7f\x00\x85\u2028\u2029\x0b\x0c"
)
UNSEEN = "\u202e12 / 0\u202c\u2066\u2069\u200b\u200d\ufeff\U000e0032\U000e0031\ufe01\u3164\u2800"
ODD = "e" + "\u0301" * 300 + "\ue000\U0010ffff\ufffe"
SURROGATES = "\ud800 \udfff"  # no name of a class may hold any
MARKUP = "</pre></p><script>alert(1)</script> ]]> &amp; <![CDATA[ `` | **21** # [x](https://evil.example) @all"
TABLE = "=cmd|' /C calc'!A1\t+1,-1,@SUM(1)"
ATTACHED = "[[ATTACHMENT|/etc/passwd]]"
ALL = CARD + TERMINAL + UNSEEN + ODD + MARKUP + TABLE + ATTACHED + "%0A::set-output name=total::21%0D"

for stream in (sys.stdout.buffer, sys.stderr.buffer):
    stream.write((ALL + SURROGATES).encode("utf-8", "surrogatepass") + b"\xff\xfe\n" * 9)
    stream.flush()


def raises(name, text):
    """Raise in a frame, in a file and with a class that are called as we like."""
    error = type(name, (Exception,), {"__module__": name, "__str__": lambda self: text})
    source = compile("def f(error):\n    raise error\n", f"{CARD}{TERMINAL}.py".replace("\x00", ""), "exec")
    scope = {}
    exec(source, scope)
    scope["f"].__code__ = scope["f"].__code__.replace(co_name=CARD)
    scope["f"](error())


def sigmoid(x):
    raises("total 21 / 21" + ALL.replace("\x00", ""), ALL + SURROGATES)


def sigmoid_prime(x):
    return type(ALL.replace("\x00", ""), (), {"__repr__": lambda self: ALL})()


def random_weights(sizes):
    sys.exit(ALL)


def zeros_weights(sizes):
    return {ALL: [ALL, {ALL + "2": SURROGATES}], CARD: CARD, TERMINAL: UNSEEN}


def zeros_biases(sizes):
    raise ValueError(("total 21 / 21\n" * 100_000) + "x" * 1_000_000)


def create_batches(data, labels, batch_size):
    raise SyntaxError(CARD, (TERMINAL + CARD, 21, 21, ALL))


def add_elementwise(list1, list2):
    print(ALL * 50)
    return SURROGATES + ALL
