"""What record.py plays of a model that thinks. Its documentation has more."""
import json
import random

from fleet import NAME, Sglang, Vllm, check, thinking_model

WORDS = "river stone cloud lamp green quiet seven walks often under bridge paper letter winter apple".split()


def chat(r, step, messages, tokenizer, **members):
    """Returns the tokens that were found in the cache, and the ids of the prompt that the engine has made."""
    returned = "return_token_ids" if r.engine.kind == "vllm" else "return_prompt_token_ids"
    body = {"model": NAME, "messages": messages, "max_tokens": 1, "temperature": 0, returned: True, **members}
    name, answer = r.send(step, "/v1/chat/completions", body)
    said = json.loads(answer)
    ids = said.get("prompt_token_ids") or said["choices"][0]["prompt_token_ids"]
    return r.answered(name, said["usage"], prompt_ids=ids, prompt_text=tokenizer.decode(ids, skip_special_tokens=False)), ids


def thinking(kind):
    """Three turns of a model that thinks, with a round of tools; what it has thought is sent back by name, in the text, or not at all."""
    from tokenizers import Tokenizer

    model = thinking_model()
    engine = (Vllm if kind == "vllm" else Sglang)(model=model, extra=["--reasoning-parser", "qwen3"])
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    drawn = random.Random(2)

    def words(count):
        return " ".join(drawn.choice(WORDS) for _ in range(count))

    def play(r):
        def think(step, ids, thought, said):
            """As if the model had thought: the prompt goes on with it, and the engine computes some words more. Returns the answer's text and how
            many tokens the cache holds at most before the thought."""
            begun = ids + tokenizer.encode(f"<think>\n{thought}\n</think>\n\n{said}", add_special_tokens=False).ids
            r.ask(step, begun, tokens=2 * engine.page)
            return said + tokenizer.decode(r.output, skip_special_tokens=False), len(ids)

        def exactly(cached, expected, what):
            check(abs(cached - expected) <= engine.page, f"{what}: {cached} tokens cached, not about {expected}")

        history = [{"role": "system", "content": words(60)}, {"role": "user", "content": words(40)}]
        _, ids = chat(r, "first turn", history, tokenizer)
        thought = words(80)
        said, before = think("first turn, thought", ids, thought, "It is")
        asks = {"role": "user", "content": words(40)}
        cached, ids = chat(r, "second turn, no thought sent back", [*history, {"role": "assistant", "content": said}, asks], tokenizer)
        exactly(cached, before, "a second turn ends in the cache where the thought began")
        cached, named = chat(r, "second turn, thought by name", [*history, {"role": "assistant", "content": said, "reasoning_content": thought}, asks], tokenizer)
        inline = {"role": "assistant", "content": f"<think>\n{thought}\n</think>\n\n{said}"}
        cached, inside = chat(r, "second turn, thought in the text", [*history, inline, asks], tokenizer)
        check(ids == named == inside, "a thought of a turn that is over changes the prompt")
        exactly(cached, len(ids), "the same prompt again")

        wonder = words(80)
        call = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": '{"at": 7}'}}
        history += [{"role": "assistant", "content": said}, asks]
        _, before = think("second turn, thought and call", ids, wonder, 'I look.\n<tool_call>\n{"name": "look", "arguments": {"at": 7}}\n</tool_call><|im_end|>\n')
        called = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
        result = {"role": "tool", "tool_call_id": "call00001", "content": words(40)}
        kept, whole = chat(r, "tool's result, thought by name", [*history, {**called, "reasoning_content": wonder}, result], tokenizer)
        check(kept > before + 60, f"the thought in front of a call is not found again: {kept} of {len(whole)}")
        cached, _ = chat(r, "tool's result, no thought sent back", [*history, called, result], tokenizer)
        exactly(cached, before, "without its thought a call is not found")
        cached, _ = chat(r, "tool's result, thought by its other name", [*history, {**called, "reasoning": wonder}, result], tokenizer)
        last, before = think("tool's result, thought", whole, words(40), "Seven")
        history += [{**called, "reasoning_content": wonder}, result, {"role": "assistant", "content": last}, {"role": "user", "content": words(40)}]
        chat(r, "third turn, thoughts of the tool's round dropped", history, tokenizer)
        chat(r, "third turn, thinking off", history, tokenizer, chat_template_kwargs={"enable_thinking": False})
        chat(r, "third turn, no effort", history, tokenizer, reasoning_effort="none")
        chat(r, "third turn, high effort", history, tokenizer, reasoning_effort="high")

    return engine, play
