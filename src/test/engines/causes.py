"""What the prompt tokens that engines did not find in their caches are made of.

A prompt is held against all that was sent before it in the same round, as tokens: the longest beginning that it has in common with a
prompt and its answer (without the answer's last token, which no engine has computed) is what could have been found.
"""

import json
import urllib.request

from fleet import NAME

CAUSES = ("new, first turn", "new, later turns", "rest of a block", "computed meanwhile", "evicted or elsewhere")


def ids_of(gateway, messages):
    """The tokens of a whole conversation, as the gateway has them: each of its prompts is a beginning of these."""
    body = json.dumps({"model": NAME, "messages": messages, "add_generation_prompt": False}).encode()
    request = urllib.request.Request(gateway.url + "/tokenize", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["tokens"]


def common(a, b):
    """How many tokens two begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def missed(talks, page, said):
    """Tokens of each cause, those cached and all; `talks`: ids and answers of each conversation of a round, answers of `said` tokens."""
    sent = sorted(
        ((answer, turn, ids[:answer.prompt], ids[:answer.prompt + said - 1]) for ids, answers in talks for turn, answer in enumerate(answers)),
        key=lambda s: s[0].at)
    found = dict.fromkeys((*CAUSES, "cached", "all"), 0)
    for n, (answer, turn, prompt, _) in enumerate(sent):
        alike = [(common(prompt, before), a.at + a.first <= answer.at) for a, _, _, before in sent[:n]]
        longest = max((c for c, _ in alike), default=0)
        blocks = min(longest, answer.prompt - 1) // page * page
        there = min(max((c for c, done in alike if done), default=0), answer.prompt - 1) // page * page
        found["new, later turns" if turn else "new, first turn"] += answer.prompt - longest
        found["rest of a block"] += longest - blocks
        found["computed meanwhile"] += blocks - max(there, min(answer.cached, blocks))
        found["evicted or elsewhere"] += max(there - answer.cached, 0)
        found["cached"] += answer.cached
        found["all"] += answer.prompt
    return found


def table(found):
    """`found`: what `missed` says of each gateway; prints the parts of all prompt tokens, in Markdown."""
    print("| gateway | cached | " + " | ".join(CAUSES) + " |")
    print("|---|---|" + "---|" * len(CAUSES))
    for name, tokens in found.items():
        parts = [f"{100 * tokens[c] / tokens['all']:.1f} %" for c in ("cached", *CAUSES)]
        print(f"| {name} | " + " | ".join(parts) + " |", flush=True)
