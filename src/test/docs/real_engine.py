"""`python` and `vllm` of a page that needs real engines: the reader's command, with the test's tiny model under the name of the reader's, and with
what a machine without a GPU needs (src/test/engines/fleet.py). Flags of the page win."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "engines"))

from fleet import Sglang, Vllm  # noqa: E402


def become(engine, model, flags):
    command = [str(word) for word in (*engine.command, "--served-model-name", model, *flags)]
    os.execvpe(command[0], command, {**os.environ, **engine.env})


match sys.argv[1:]:
    case ["python", "-m", "sglang.launch_server", "--model-path", model, *flags]:
        become(Sglang(), model, flags)
    case ["vllm", "serve", model, *flags]:
        become(Vllm(), model, flags)
    case ["python", *words]:
        os.execvp("python3", ["python3", *words])
    case words:
        sys.exit(f"no command for a real engine: {words}")
