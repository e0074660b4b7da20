"""What answers through several gateways are compared by."""

import statistics


def hit_rate(answers):
    """Of all prompt tokens, the part that engines report as cached."""
    return sum(a.cached for a in answers) / sum(a.prompt for a in answers)


def hit_rates(found):
    return {name: hit_rate([a for one in each for a in one]) for name, each in found.items()}


def wrong(answers):
    """Predictions that the engine's report differs from, of how many, and by how many tokens in the mean of all."""
    told = [a for a in answers if a.predicted is not None]
    if not told:
        return "-"
    off = [abs(a.predicted - a.cached) for a in told]
    return f"{sum(o > 0 for o in off)} of {len(told)}, {statistics.mean(off):.0f} tokens"


def table(found):
    """`found`: for each gateway the answers of each round; prints a row for each, in Markdown."""
    predicted = any(a.predicted is not None for rounds in found.values() for one in rounds for a in one)
    print("| gateway | hit rate of each round | all | mean TTFT | p50 | p95 |" + (" wrong predictions |" if predicted else ""))
    print("|---|---|---|---|---|---|" + ("---|" if predicted else ""))
    for name, rounds in found.items():
        answers = [a for one in rounds for a in one]
        firsts = sorted(a.first for a in answers)
        each = ", ".join(f"{100 * hit_rate(one):.1f}" for one in rounds)
        print(f"| {name} | {each} | {100 * hit_rate(answers):.1f} % | {1000 * statistics.mean(firsts):.0f} ms"
              f" | {1000 * statistics.median(firsts):.0f} | {1000 * firsts[int(len(firsts) * 0.95)]:.0f} |"
              + (f" {wrong(answers)} |" if predicted else ""), flush=True)
