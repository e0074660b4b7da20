#!/usr/bin/env python3
"""Writes src/test/resources/templates/thinking.json.gz: the prompts that the engines' own code makes of conversations with thoughts, for
ThinkingPromptsTest. Request types, content code, template arguments and rendering are vLLM 0.32.0's and SGLang 0.5.23's.

    make_thinking.py VLLM_PYTHON SGLANG_PYTHON [FOLDER OUT]

Both are Python executables of environments in which that engine is installed; no model and no accelerator is needed. With a folder the
templates in it take the place of ours, published ones say; the test is told by `-Dthinking.templates=FOLDER -Dthinking.prompts=OUT`.
"""
import copy
import gzip
import json
import os
import pathlib
import subprocess
import sys
import types

from conversations import BARE, SEARCH, WEATHER, A, S, T, U, call, m

ROOT = pathlib.Path(__file__).resolve().parents[4]
TEMPLATES = ROOT / "src/test/resources/templates"
TOKENIZER = ROOT / "src/tokens/main/resources/demo-model/tokenizer.json"
FAMILIES = ["deepseek-r1", "deepseek-v31", "glm45", "gpt-oss-harmony", "granite3", "kimi-k2", "minimax-m2", "nemotron-thinking", "qwen3-thinking", "smollm3"]

THOUGHT = "The user greets.\n\nI greet \"back\"."
TOWN = json.dumps({"town": "Zürich", "unit": "C"}, ensure_ascii=False)


def said(text, how, thought=THOUGHT, **more):
    """An answer as a client sends it back: its thought under a name, in its text with or without the opening tag, among its parts, or not at all."""
    match how:
        case "none":
            return m(A, text, **more)
        case "open" | "closed":
            return m(A, ("<think>\n" if how == "open" else "") + thought + "\n</think>\n\n" + (text or ""), **more)
        case "parts":
            return m(A, [{"type": "thinking", "thinking": thought}, {"type": "text", "text": text or ""}], **more)
        case "both":
            return m(A, text, reasoning_content=thought, reasoning=thought + " Twice.", **more)
        case _:
            return m(A, text, **{how: thought}, **more)


def chats():
    """Name and members of each request."""
    for how in ("none", "reasoning_content", "reasoning", "both", "open", "closed", "parts"):
        first = [m(U, "Hi"), said("Hello!", how), m(U, "How are you?")]
        yield f"{how}: second turn", dict(messages=first)
        yield f"{how}: third turn", dict(messages=[m(S, "Be brief."), *first, said("Fine.", how, "Fine is true."), m(U, "Bye")])
        tool = [m(U, "Weather?"), said(None, how, "I look.", tool_calls=[call("get_weather", TOWN)]), m(T, "21 degrees", tool_call_id="call12345")]
        yield f"{how}: a tool's result", dict(messages=tool, tools=[WEATHER])
        again = [said("And now?", how, "Once more.", tool_calls=[call("search", "{}", "call00002"), call("ping", "{}", "call00003")]),
                 m(T, "x", tool_call_id="call00002"), m(T, "y", tool_call_id="call00003")]
        yield f"{how}: two rounds of tools", dict(messages=[*first, *tool[1:], *again], tools=[WEATHER, SEARCH, BARE])
        yield f"{how}: after tools", dict(messages=[*tool, said("21.", how, "Just say it."), m(U, "Thanks")], tools=[WEATHER])
    kept = [m(U, "Hi"), said("Hello!", "reasoning_content"), m(U, "Weather?"), said(None, "reasoning_content", "I look.", tool_calls=[call("ping", "{}")]),
            m(T, "pong", tool_call_id="call12345")]
    for name in ("enable_thinking", "thinking", "preserve_thinking", "clear_thinking", "truncate_history_thinking", "low_effort"):
        for value in (False, True):
            yield f"{name} {value}", dict(messages=kept, tools=[BARE], chat_template_kwargs={name: value})
    for effort in ("none", "minimal", "low", "medium", "high", "xhigh", "max"):
        yield f"effort {effort}", dict(messages=kept, reasoning_effort=effort)
    yield "effort and argument", dict(messages=kept, reasoning_effort="high", chat_template_kwargs={"enable_thinking": False, "thinking": None})
    yield "no effort and argument", dict(messages=kept, reasoning_effort="none", chat_template_kwargs={"enable_thinking": True})
    for empty in ("", "\n", " \n thought \n "):
        yield f"thought {empty!r}", dict(messages=[m(U, "a"), said("b", "reasoning_content", empty), m(U, "c"), said(None, "reasoning_content", empty, tool_calls=[call("ping", "{}")]), m(T, "d", tool_call_id="call12345")])
    yield "tags in what a user says", dict(messages=[m(U, "<think>not mine</think>"), said("a</think>b", "reasoning_content"), m(U, "</think>c")])
    yield "a closed and an open thought", dict(messages=[m(U, "a"), m(A, "<think>x</think>b<think>y"), m(U, "c")])


def sources(folder):
    """By a name that is also where the template is, below the folder; without one, those of the tree that know of thoughts."""
    root = pathlib.Path(folder or TEMPLATES)
    files = root.glob("*.jinja") if folder else [*(root / f"families/{name}.jinja" for name in FAMILIES), *root.glob("thinking/*.jinja")]
    return {str(f.relative_to(root)): f.read_text(encoding="utf-8") for f in sorted(files)}


def tokenizer():
    import datetime

    from transformers import PreTrainedTokenizerFast
    from transformers.utils import chat_template_utils

    class Clock(datetime.datetime):
        """Templates print the date; this one is the test's."""

        @classmethod
        def now(cls, tz=None):
            return cls.fromisoformat("2026-01-31T12:34:56")

    chat_template_utils.datetime = Clock
    return PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZER), bos_token="<s>", eos_token="</s>")


class Vllm:
    def __init__(self):
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.renderers import chat_utils, hf

        self.request, self.chat_utils, self.hf, self.tokenizer = ChatCompletionRequest, chat_utils, hf, tokenizer()
        self.model = types.SimpleNamespace(
            multimodal_config=None, is_multimodal_model=False, enable_prompt_embeds=False, allowed_local_media_path="", allowed_media_domains=None,
            hf_config=types.SimpleNamespace(model_type="x"))

    def prompt(self, template, body):
        request = self.request(model="x", **body)
        params = request.build_chat_params(template, "auto")
        conversation, _, _ = self.chat_utils.parse_chat_messages(
            request.messages, self.model, content_format=self.hf._detect_content_format(template, default="string"))
        tools = [tool.model_dump() for tool in request.tools] if request.tools else None
        return self.hf.safe_apply_chat_template(
            self.model, self.tokenizer, conversation, **{**params.get_apply_chat_template_kwargs(), "tools": tools, "tokenize": False})


class Sglang:
    def __init__(self):
        from sglang.srt.entrypoints.openai import protocol, serving_chat
        from sglang.srt.parser import jinja_template_utils, template_manager

        self.request, self.serving, self.detect = protocol.ChatCompletionRequest, serving_chat.OpenAIServingChat, jinja_template_utils
        self.manager, self.tokenizer, self.rendered, self.managers = template_manager.TemplateManager, tokenizer(), None, {}

    def found_out(self, template):
        """What the engine finds out about a template when it starts."""
        if template not in self.managers:
            manager = self.managers[template] = self.manager()
            manager._run_template_detection(template, self.tokenizer)
            manager._jinja_template_content_format = self.detect.detect_jinja_template_content_format(template)
        return self.managers[template]

    def apply_chat_template(self, *args, **kwargs):
        self.rendered = self.tokenizer.apply_chat_template(*args, **kwargs)
        return self.rendered

    def encode(self, *_, **__):
        return []

    def prompt(self, template, body):
        request = self.request(model="x", **body)
        self.tokenizer.chat_template = template
        manager = self.found_out(template)
        serving = object.__new__(self.serving)
        serving.__dict__.update(
            template_manager=manager, tokenizer_manager=types.SimpleNamespace(tokenizer=self, served_model_name="x"), chat_encoding_spec=None,
            _encoding_adapter=None, is_minimax_m3=False, _prompt_text_round_trip_is_lossy=False, _tokenizer_auto_adds_specials=True,
            reasoning_parser=None, _reasoning_detector=None)
        self.rendered = None
        serving._apply_jinja_template(request, [t.model_dump() for t in request.tools] if request.tools else None, False)
        return self.rendered


def answers(engine, folder):
    """Runs in the engine's own Python: a line per template on file descriptor 3, which the engine's own words do not reach."""
    import logging

    own = {"vllm": Vllm, "sglang": Sglang}[engine]()
    logging.disable(logging.CRITICAL)
    for name, template in sources(folder).items():
        prompts = []
        for _, body in chats():
            try:
                prompts.append({"text": own.prompt(template, copy.deepcopy(body))})
            except Exception as e:  # what the engine answers with 400
                prompts.append({"error": f"{type(e).__name__}: {e}"[:300]})
        os.write(3, (json.dumps([name, prompts]) + "\n").encode())


def ask(engine, python, folder):
    out = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"thinking.{engine}.{os.getpid()}"
    subprocess.run(["sh", "-c", 'exec 3>"$0"; exec "$@"', str(out), python, __file__, engine, *folder], check=True)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    out.unlink()
    return dict(lines)


def main():
    if len(sys.argv) in (2, 3) and sys.argv[1] in ("vllm", "sglang"):
        return answers(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None)
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    folder, out = (sys.argv[3:4], sys.argv[4]) if len(sys.argv) == 5 else ([], TEMPLATES / "thinking.json.gz")
    vllm, sglang = ask("vllm", sys.argv[1], folder), ask("sglang", sys.argv[2], folder)
    templates = {name: {"vllm": vllm[name], "sglang": sglang[name]} for name in vllm}
    data = json.dumps({"chats": [{"name": n, **body} for n, body in chats()], "templates": templates}, separators=(",", ":")).encode()
    pathlib.Path(out).write_bytes(gzip.compress(data, 9, mtime=0))  # no time in the file: the same input gives the same bytes
    for engine, of in (("vllm", vllm), ("sglang", sglang)):
        print(engine, sum("text" in p for prompts in of.values() for p in prompts), "texts of", sum(map(len, of.values())))


if __name__ == "__main__":
    main()
