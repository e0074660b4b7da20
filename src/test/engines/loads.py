"""Loads with a seed: each gives its answers, AT_ONCE requests of it at a time. `fronts` are gateways, or engines without one."""

import concurrent.futures
import random
import time

from talk import chat, client, complete, words

AT_ONCE = 4
THINK = 0.03  # mean seconds between an answer and the next request of the same client


def clients(asks):
    """Each of `asks`, AT_ONCE of them at a time, in their order."""
    drawn = random.Random(0)
    pauses = [drawn.expovariate(1 / THINK) for _ in asks]

    def one(pause, ask):
        time.sleep(pause)
        return ask()

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, pauses, asks))


def documents(fronts, seed, count=24, asks=240, size=650, common=0):
    """Questions about documents, some of which are asked about far more often; in the middle others become the popular ones."""
    drawn = random.Random(f"documents {seed}")
    preface = words(f"preface {seed}", common)
    texts = [preface + words(f"{seed} document {i}", size) for i in range(count)]
    ranks = [1 / (1 + i) for i in range(count)]
    apis = [client(f) for f in fronts]

    def ask(n):
        order = list(range(count)) if n < asks / 2 else [*range(count // 2, count), *range(count // 2)]
        document = drawn.choices(order, ranks)[0]
        messages = [
            {"role": "system", "content": texts[document]},
            {"role": "user", "content": words(f"{seed} question {n}", drawn.randrange(15, 40))}]
        return lambda: chat(apis[n % len(apis)], messages, 8, stream=True)

    return clients([ask(n) for n in range(asks)])


def documents_alike(fronts, seed):
    return documents(fronts, seed, size=450, common=225)


class Conversations:
    """Conversations of a few tenants, each tenant with a system prompt of its own; `mark` begins each prompt."""

    def __init__(self, seed, count=16, tenants=4, mark=""):
        self.drawn, self.seed = random.Random(f"conversations {seed}"), seed
        self.histories = [
            [{"role": "system", "content": mark + words(f"{seed} tenant {i % tenants}", 250)}] for i in range(count)]
        self.turn = 0

    def turns(self, fronts, count):
        """`count` turns of each, which go to the gateways in turn."""
        apis = [client(f) for f in fronts]
        seen = []
        for _ in range(count):
            turn = self.turn

            def ask(i, size):
                history = self.histories[i]
                history.append({"role": "user", "content": words(f"{self.seed} {i} {turn}", size)})
                answer = chat(apis[(i + turn) % len(apis)], history, 16, stream=True)
                history.append({"role": "assistant", "content": answer.text})
                return answer

            order = list(range(len(self.histories)))
            self.drawn.shuffle(order)
            sizes = [self.drawn.randrange(30, 160) for _ in order]
            seen += clients([lambda i=i, s=s: ask(i, s) for i, s in zip(order, sizes)])
            self.turn += 1
        return seen


def tool(name):
    return {"type": "function", "function": {
        "name": name.replace(" ", "_"), "description": words(f"tool {name}", 60), "parameters": {"type": "object", "properties": {}}}}


def mixed(fronts, seed, count=6, asks=210):
    """Not among them: token ids, which smg refuses."""
    drawn = random.Random(f"forms {seed}")
    api = client(fronts[0])
    texts = [words(f"{seed} form {i}", 500) for i in range(count)]

    def ask(n):
        text, question = drawn.choice(texts), words(f"{seed} question {n}", drawn.randrange(15, 40))
        messages = [{"role": "system", "content": text}, {"role": "user", "content": question}]
        form = drawn.choice(["chat", "text", "tools a", "tools b", "tenant a", "tenant b"])
        if form == "text":  # what the template makes of the messages
            said = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
            return lambda: complete(api, said + "<|im_start|>assistant\n", 8, stream=True)
        more = {}
        if form.startswith("tools"):
            more = {"tools": [tool(form), tool(form + " more")], "tool_choice": "none"}
        if form.startswith("tenant"):
            more = {"extra_body": {"cache_salt": form}}
        return lambda: chat(api, messages, 8, stream=True, **more)

    return clients([ask(n) for n in range(asks)])
