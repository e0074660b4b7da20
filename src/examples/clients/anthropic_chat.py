"""Anthropic's client: two questions about one document. Prints what engines had cached of each prompt.

    pip install anthropic
    python anthropic_chat.py
"""
import anthropic

URL, MODEL, DOCUMENT = "http://localhost:8000", "demo", "LICENSE"

client = anthropic.Anthropic(base_url=URL, api_key="none")
with open(DOCUMENT, encoding="utf-8") as f:
    document = f.read()

talk = []
for question in ("May I sell it?", "And who is liable?"):
    talk.append({"role": "user", "content": question})
    message = client.messages.create(model=MODEL, max_tokens=16, system=document, messages=talk)
    usage = message.usage
    cached = usage.cache_read_input_tokens or 0
    print(f"{question} {usage.input_tokens + cached} tokens, {cached} cached")
    talk.append({"role": "assistant", "content": message.content})
