"""LangChain: two questions about one document, in one session. Prints what engines had cached of each prompt.

    pip install langchain-openai
    python langchain_chat.py
"""
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

URL, MODEL, DOCUMENT = "http://localhost:8000/v1", "demo", "LICENSE"

chat = ChatOpenAI(base_url=URL, api_key="none", model=MODEL, max_tokens=16, default_headers={"x-dynamo-session-id": "langchain-1"})
with open(DOCUMENT, encoding="utf-8") as f:
    talk = [SystemMessage(f.read())]

for question in ("May I sell it?", "And who is liable?"):
    talk.append(HumanMessage(question))
    answer = chat.invoke(talk)
    usage = answer.usage_metadata
    print(f"{question} {usage['input_tokens']} tokens, {usage['input_token_details'].get('cache_read', 0)} cached")
    talk.append(answer)
