"""Two workers of schemathesis parse Python at the same time, which until Python 3.12 sometimes fails:
SystemError, AST constructor recursion depth mismatch (python/cpython, issue 106905)."""
import ast
import threading

together, parse = threading.RLock(), ast.parse


def parse_alone(*args, **named):
    with together:
        return parse(*args, **named)


ast.parse = parse_alone
