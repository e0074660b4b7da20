"""LlamaIndex: two questions about one document, in one session. Prints what engines had cached of each prompt.

    pip install llama-index-llms-openai-like
    python llamaindex_chat.py
"""
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

URL, MODEL, DOCUMENT = "http://localhost:8000/v1", "demo", "LICENSE"

llm = OpenAILike(api_base=URL, api_key="none", model=MODEL, is_chat_model=True, max_tokens=16, context_window=32768,
                 default_headers={"x-dynamo-session-id": "llamaindex-1"})
with open(DOCUMENT, encoding="utf-8") as f:
    talk = [ChatMessage(role="system", content=f.read())]

for question in ("May I sell it?", "And who is liable?"):
    talk.append(ChatMessage(role="user", content=question))
    answer = llm.chat(talk)
    usage = answer.raw.usage
    print(f"{question} {usage.prompt_tokens} tokens, {usage.prompt_tokens_details.cached_tokens} cached")
    talk.append(answer.message)
