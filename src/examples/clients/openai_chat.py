"""OpenAI's client: two questions about one document, in one session. Prints what engines had cached of each prompt.

    pip install openai
    python openai_chat.py
"""
import openai

URL, MODEL, DOCUMENT = "http://localhost:8000/v1", "demo", "LICENSE"

client = openai.OpenAI(base_url=URL, api_key="none")
with open(DOCUMENT, encoding="utf-8") as f:
    talk = [{"role": "system", "content": f.read()}]

for question in ("May I sell it?", "And who is liable?"):
    talk.append({"role": "user", "content": question})
    answer = ""
    for chunk in client.chat.completions.create(
            model=MODEL, messages=talk, max_tokens=16, stream=True, stream_options={"include_usage": True},
            extra_headers={"x-dynamo-session-id": "openai-1"}):
        if chunk.choices:
            answer += chunk.choices[0].delta.content or ""
        if chunk.usage:
            print(f"{question} {chunk.usage.prompt_tokens} tokens, {chunk.usage.prompt_tokens_details.cached_tokens} cached")
    talk.append({"role": "assistant", "content": answer})
