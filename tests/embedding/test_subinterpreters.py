"""A sub-interpreter is told that lutcast works in the main one, which is none the worse for it."""

import subprocess
import sys

import pytest

CODE = '''
import sys
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    def create(): return interpreters.create("{kind}")
else:
    import _xxsubinterpreters as interpreters
    def create(): return interpreters.create(isolated="{kind}" == "isolated")

def sub():
    number = create()
    interpreters.run_string(number, """if True:
        try:
            import lutcast
            print("imported", flush=True)
        except ImportError as error:
            print(error, flush=True)
    """)
    interpreters.destroy(number)

def main():
    import lutcast
    print(lutcast.cast([1.5], "int8"), flush=True)

for step in {order}:
    step()
'''
KINDS = ["legacy", "isolated"] if sys.version_info >= (3, 12) else ["legacy"]  # since then with a GIL of its own
REFUSED = "lutcast: works in the main interpreter only, not in a sub-interpreter"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("order", "printed"),
    [
        ("(sub, main, sub)", [REFUSED, "[1]", REFUSED]),
        ("(main, sub, main)", ["[1]", REFUSED, "[1]"]),
        ("(sub, sub)", [REFUSED, REFUSED]),
    ],
)
def test_a_sub_interpreter_is_refused(order, printed, kind):
    code = CODE.replace("{order}", order).replace("{kind}", kind)
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == printed
