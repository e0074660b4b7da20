"""Random templates and chats, for the differential test. Seeded: the same seed gives the same cases."""
import random

WORDS = ["", "a", "b", "Hello", "user", "x y  z", " pad ", "\n", "<b>&'\"", "Grüße", "日本語🙂", "ß", "ΑΣ", "it's", 'say "hi"', "\t\x00\x7f\u200b",
         "{{ x }}", "1", "42", "-3.5", "a,b,,c", "<think>t</think>rest", "ǆ ﬁ", "tool_call", "\\n", "\u2028", "e\u0301", "one two\nthree\n"]
SIMPLE_FILTERS = ["length", "trim", "upper", "lower", "string", "list", "first", "last", "tojson", "capitalize", "title", "reverse", "int", "float",
                  "abs", "safe", "e", "items", "sort", "unique", "dictsort", "min", "max", "sum", "round", "join", "count", "indent", "default",
                  "tojson(indent=2)", "tojson(ensure_ascii=true)", "tojson(separators=(',', ':'))", "tojson(sort_keys=true)", "join(', ')",
                  "default('d')", "default('d', true)", "replace('a', 'b')", "replace('', '-')", "replace('a', 'bb', 1)", "map('upper')",
                  "map(attribute='role')", "map('tojson')", "select('string')", "reject('none')", "select", "selectattr('content')",
                  "selectattr('role', 'equalto', 'user')", "rejectattr('role', 'eq', 'user')", "selectattr('tool_calls', 'defined')", "sort(attribute='role')",
                  "trim('a ')", "indent(2)", "indent(2, true)", "indent('> ', blank=true)", "round(1)", "round(method='floor')", "int(7)", "float(1.5)",
                  "dictsort(by='value')", "dictsort(reverse=true)", "unique(attribute='role')", "join('-', attribute='role')", "map(attribute='k.0', default='?')",
                  "format(1, 'x')", "center(9)", "sort(reverse=true)", "max(attribute='role')", "forceescape", "map('trim')", "batchless", "from_json"]
TESTS = ["defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "number", "boolean", "true", "false", "integer", "float", "lower",
         "upper", "odd", "even", "callable", "escaped", "divisibleby 2", "divisibleby(3)", "eq 1", "equalto('a')", "in [1, 'a']", "in('abc')", "gt 0", "lt(2)",
         "sameas none", "sameas(true)", "filter", "test", "ne ''", "nosuch"]
METHODS = ["strip()", "lstrip()", "rstrip('a\\n')", "split()", "split(',')", "split(' ', 1)", "rsplit(' ', 1)", "splitlines()", "upper()", "lower()",
           "title()", "capitalize()", "startswith('a')", "endswith(('b', 'z'))", "replace('a', 'x')", "replace('a', 'x', 1)", "find('l')", "rfind('l')",
           "count('l')", "index('l')", "join(['p', 'q'])", "join('pq')", "items()", "keys()", "values()", "get('role')", "get('zz', 7)", "get('role', default=1)", "format(1, k='v')",
           "zfill(5)", "ljust(6, '.')", "rjust(6)", "center(7, '*')", "partition('l')", "rpartition(' ')", "isdigit()", "isalpha()", "isspace()", "islower()",
           "removeprefix('He')", "removesuffix('lo')", "append(1)", "update({'a': 1})", "pop()", "copy()", "count('a')", "index('a')", "startswith('e', 1)",
           "split('<think>')[-1]", "split(none, 2)", "strip(none)", "nosuch()", "split(sep=' ', maxsplit=1)", "splitlines(true)", "isupper()", "isalnum()"]
SUBSCRIPTS = [".role", ".content", "['role']", "['content']", "[0]", "[-1]", "[1:]", "[::-1]", "[:2]", "[-2:]", "[1:3]", "[::2]", "[5:1:-2]", ".a", "['k']",
              ".items", "['items']", ".missing", "[99]", "[true]", ".0", ".tool_calls", ".function", "['arguments']", ".__class__", "._x", "['__class__']", "[none]",
              "[:]", "[-99:99]", "['a', 'b']", "[1.0]", ".upper", ".real"]
FORMATS = ["'%s-%s' % (1, 'x')", "'%d%%' % 42", "'%5.2f|' % 3.14159", "'%(role)s' % messages[0]", "'%r' % 'q'", "'%x' % 255", "'%05d' % -7", "'%-6s|' % 'ab'", "'%s' % [1]",
           "'{} {}'.format(1, none)", "'{0}{0}'.format('a')", "'{a.role}'.format(a=messages[0])", "'{:>5}|{:<4}|{:^6}'.format('a', 'b', 'c')", "'{:05d}'.format(42)",
           "'{:.2f}'.format(2.675)", "'{!r}'.format('x')", "'{[role]}'.format(messages[0])", "'%s' % ('a', 'b')", "'%d' % 'x'", "'%i %s' % (3.99, true)", "'%c' % 'z'"]


class Grammar:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = ["messages", "tools", "x", "n", "f", "flag", "nothing", "words", "table", "undefined_name", "bos_token"]
        self.macros = []
        self.loops = 0
        self.tame = self.r.random() < 0.7

    def quoted(self, text):
        q = self.r.choice("'\"")
        out = text.replace("\\", "\\\\").replace(q, "\\" + q)
        return q + (out.replace("\n", "\\n") if self.r.random() < 0.8 else out) + q

    def literal(self):
        r = self.r
        return r.choice([
            lambda: self.quoted(r.choice(WORDS)), lambda: str(r.randint(-3, 12)), lambda: r.choice(["1.5", "0.1", "2.0", "1e20", "1e-7", "1_000", "0x1f"]),
            lambda: r.choice(["true", "false", "none", "True", "None"]), lambda: str(r.randint(0, 10 ** 25)), lambda: r.choice(FORMATS),
            lambda: r.choice(["'\\x41\\u00e9'", "'\\d\\q'", "'a' 'b'", "'\\101'", "'\\é'", "'a\\\nb'"])])()

    def expr(self, depth=3):
        r = self.r
        if self.tame:
            return self.known(depth)
        if depth <= 0 or r.random() < 0.15:
            return self.literal() if r.random() < 0.4 else self.name()
        d = depth - 1
        k = r.randrange(17)
        if k == 0:
            return f"{self.expr(d)} {r.choice(['+', '-', '*', '/', '//', '%', '+', '+', '~', '~', '**'])} {self.small(d)}"
        if k == 1:
            return f"({self.expr(d)})"
        if k == 2:
            return f"{self.expr(d)} {r.choice(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in', '==', 'in'])} {self.expr(d)}"
        if k == 3:
            return f"{self.expr(d)} {r.choice(['and', 'or'])} {self.expr(d)}"
        if k == 4:
            return f"not {self.expr(d)}"
        if k == 5:
            return f"{self.expr(d)} if {self.expr(d)}" + (f" else {self.expr(d)}" if r.random() < 0.7 else "")
        if k in (6, 7, 8):
            return f"{self.expr(d)} | {r.choice(SIMPLE_FILTERS)}"
        if k == 9:
            return f"{self.expr(d)} is {r.choice(['', '', 'not '])}{r.choice(TESTS)}"
        if k in (10, 11):
            return f"{self.atom(d)}.{r.choice(METHODS)}"
        if k in (12, 13):
            return f"{self.atom(d)}{r.choice(SUBSCRIPTS)}"
        if k == 14:
            items = ", ".join(self.expr(d) for _ in range(r.randrange(4)))
            return r.choice(["[%s]", "(%s,)" if items else "(%s)"]) % items
        if k == 15:
            return "{%s}" % ", ".join(f"{r.choice([self.quoted(r.choice(WORDS)), str(r.randint(0, 3)), 'true'])}: {self.expr(d)}" for _ in range(r.randrange(4)))
        return self.call(d)

    # Expressions that mostly succeed: of a known type, so that more than the first operation of a template is compared.

    def text(self, d):
        r = self.r
        if d <= 0 or r.random() < 0.2:
            return r.choice([self.quoted(r.choice(WORDS)), "(messages[0].content | string)", "messages[0].role", "(words | join('+'))", "(x | string)",
                             "(loop.index | string)" if self.loops else "'z'", "('%s' % n)", "(m.role | string)" if self.loops else "bos_token | default('s')"])
        d -= 1
        return r.choice([
            lambda: f"({self.text(d)} + {self.text(d)})", lambda: f"({self.text(d)} ~ {self.known(d)})", lambda: f"({self.text(d)} * {r.randint(-1, 3)})",
            lambda: f"({self.text(d)} | {r.choice(['trim', 'upper', 'lower', 'title', 'capitalize', 'reverse', 'string', 'safe', 'e', 'indent(2)', 'indent(1, true, true)', 'center(8)'])})",
            lambda: f"({self.text(d)} | replace({self.text(0)}, {self.text(0)}{r.choice(['', ', 1'])}))",
            lambda: f"{self.text(d)}.{r.choice(['strip()', 'lstrip()', 'rstrip()', 'upper()', 'lower()', 'title()', 'capitalize()', 'zfill(6)', 'ljust(5, chr)', 'rjust(7)'])}".replace("chr", "'*'"),
            lambda: f"{self.text(d)}.{r.choice(['strip', 'lstrip', 'rstrip', 'removeprefix', 'removesuffix'])}({self.text(0)})",
            lambda: f"{self.text(d)}[{r.choice(['', '1', '-3', '2', '100'])}:{r.choice(['', '-1', '4', '2', '-100'])}{r.choice(['', '', ':-1', ':2', ':-3'])}]",
            lambda: f"({self.known(d)} | tojson{r.choice(['', '(indent=2)', '(ensure_ascii=true)', '(sort_keys=true)', '(separators=(chr, chr))']).replace('chr', repr('~'))})",
            lambda: f"({self.items(d)} | join({self.text(0)}))", lambda: f"({self.text(d)} if {self.truth(d)} else {self.text(d)})",
            lambda: f"{self.text(d)}.replace({self.text(0)}, {self.text(0)})", lambda: f"{self.text(d)}.split({r.choice(['', chr(39) + 'a' + chr(39), chr(39) + ' ' + chr(39) + ', 1'])})[-1:] | string",
            lambda: f"{r.choice(self.macros)}()" if self.macros else "''"])()

    def number(self, d):
        r = self.r
        if d <= 0 or r.random() < 0.3:
            return r.choice(["n", "f", "1", "2.5", "7", "-4", "0.1", "10 ** 20", "(words | length)", "true", "loop.index" if self.loops else "3", "1e16", "(messages | length)"])
        d -= 1
        return r.choice([
            lambda: f"({self.number(d)} {r.choice('+-*')} {self.number(d)})", lambda: f"({self.number(d)} {r.choice(['/', '//', '%'])} {r.choice(['3', '-2', '0.7', '5'])})",
            lambda: f"({self.text(d)} | length)", lambda: f"({self.items(d)} | length)", lambda: f"({self.number(d)} | {r.choice(['abs', 'round', 'round(2)', 'int', 'float', 'string | int', 'round(1, chr)'])})".replace("chr", "'ceil'"),
            lambda: f"(-{self.number(d)})", lambda: f"{self.text(d)}.{r.choice(['find', 'count', 'rfind'])}({self.text(0)})", lambda: f"({self.text(d)} | int(5))"])()

    def items(self, d):
        r = self.r
        if d <= 0 or r.random() < 0.2:
            return r.choice(["words", "messages", "[1, 2, 3]", "['b', 'A', 'a', 'b']", "range(4)", "(table.keys() | list)", "[]", "(1, 'x')", "(table | dictsort)"])
        d -= 1
        return r.choice([
            lambda: f"({self.items(d)} | {r.choice(['list', 'reverse | list', 'unique | list', 'map(chr) | list', 'select | list', 'reject(chr2) | list', 'map(chr3) | list'])})".replace("chr3", "'string'").replace("chr2", "'none'").replace("chr", "'tojson'"),
            lambda: f"(({self.items(d)} | list) + ({self.items(d)} | list))", lambda: f"({self.items(d)} | list)[{r.choice(['1:', ':-1', '::-1', '::2', '-2:', ':', '3:0:-1'])}]",
            lambda: f"[{self.known(d)}, {self.known(d)}]", lambda: f"{self.text(d)}.{r.choice(['split()', 'splitlines()', 'split(chr)', 'rsplit(none, 1)', 'split(none, 1)', 'split(none, 0)', 'rsplit(chr, 1)', 'partition(chr)'])}".replace("chr", "'a'"),
            lambda: f"(words | sort{r.choice(['', '(reverse=true)', '(case_sensitive=true)'])})", lambda: f"(messages | map(attribute={r.choice(['chr', 'chr2'])}) | list)".replace("chr2", "'content'").replace("chr", "'role'"),
            lambda: f"(messages | {r.choice(['selectattr', 'rejectattr'])}('role', {r.choice(['chr, chr2', 'chr3, messages[0].role'])}) | list)".replace("chr3", "'=='").replace("chr2", "['user', 'tool']").replace("chr", "'in'"),
            lambda: f"(table | {r.choice(['list', 'items | list', 'dictsort', 'dictsort(reverse=true)'])})"])()

    def truth(self, d):
        r = self.r
        if d <= 0 or r.random() < 0.2:
            return r.choice(["flag", "true", "tools", "loop.last" if self.loops else "nothing", "loop.first" if self.loops else "words", "messages[0].content is string", "x is mapping"])
        d -= 1
        return r.choice([
            lambda: f"({self.known(d)} {r.choice(['==', '!='])} {self.known(d)})", lambda: f"({self.number(d)} {r.choice(['<', '>=', '<='])} {self.number(d)})", lambda: f"({self.text(d)} < {self.text(d)})",
            lambda: f"({self.text(0)} {r.choice(['in', 'not in'])} {self.text(d)})", lambda: f"({self.known(d)} in {self.items(d)})", lambda: f"not {self.truth(d)}",
            lambda: f"({self.truth(d)} {r.choice(['and', 'or'])} {self.truth(d)})",
            lambda: f"({self.known(d)} is {r.choice(['', 'not '])}{r.choice(['defined', 'none', 'string', 'mapping', 'iterable', 'sequence', 'number', 'boolean', 'integer', 'float', 'true', 'escaped'])})",
            lambda: f"{self.text(d)}.{r.choice(['startswith', 'endswith'])}({self.text(0)})", lambda: f"({self.text(d)} is {r.choice(['lower', 'upper'])})"])()

    def known(self, d):
        return self.r.choice([self.text, self.text, self.number, self.items, self.truth, lambda d: self.r.choice(["x", "table", "messages[0]", "messages[-1].content", "undefined_name", "nothing", "ns.v", "ns.w"])])(d)

    def small(self, d):
        return self.r.choice(["2", "3", "-1", "0", "0.5", self.expr(d)])

    def name(self):
        r = self.r
        if self.loops and r.random() < 0.3:
            return r.choice(["m", "m", "loop.index", "loop.index0", "loop.first", "loop.last", "loop.length", "loop.previtem", "loop.nextitem", "loop.revindex",
                             "loop.cycle('a', 'b')", "loop.changed(m)", "loop", "m.role", "m.content", "m['content']"])
        return r.choice(self.names + ["messages[0]", "messages[-1].content", "ns.v", "messages[0]['content']"])

    def atom(self, d):
        e = self.expr(d)
        return e if e.isidentifier() else f"({e})"

    def call(self, d):
        r = self.r
        k = r.randrange(5)
        if k == 0 and self.macros:
            args = ", ".join([self.expr(d) for _ in range(r.randrange(3))] + ([f"b={self.expr(d)}"] if r.random() < 0.3 else []))
            return f"{r.choice(self.macros)}({args})"
        if k == 1:
            return f"range({', '.join(str(r.randint(-3, 6)) for _ in range(r.randint(1, 3)))})"
        if k == 2:
            return f"dict({r.choice(['', 'a=1, b=x', 'table', '[[1, 2]]', 'table, a=n'])})"
        if k == 3:
            return r.choice(["strftime_now('%Y-%m-%d')", "strftime_now('%d %b %Y %H:%M')", "namespace(a=1)", "namespace(a=n).a", "raise_exception('no ' ~ n)"])
        return self.expr(d)

    def space(self):
        return self.r.choice(["", "", "", " ", "\n", "\n  ", "text", " a b ", "\t\n", "  \n\n", "\r\n", "é\n", "  "])

    def tag(self, inner):
        r = self.r
        return "{%" + r.choice(["", "", "-", "+"]) + f" {inner} " + r.choice(["", "", "-", "+"]) + "%}"

    def output(self, depth=3):
        r = self.r
        if self.tame:
            return "{{" + r.choice(["", "", "-"]) + f" {self.known(depth)} " + r.choice(["", "", "-"]) + "}}"
        return "{{" + r.choice(["", "", "-"]) + f" {self.expr(depth)} " + r.choice(["", "", "-"]) + "}}"

    def target(self):
        name = self.r.choice(["x", "n", "v1", "v2", "f", "words"])
        if name not in self.names:
            self.names.append(name)
        return name

    def block(self, depth):
        return "".join(self.space() + self.statement(depth) for _ in range(self.r.randint(1, 3))) + self.space()

    def statement(self, depth):
        r = self.r
        if depth <= 0:
            return self.output(2)
        d = depth - 1
        k = r.randrange(22)
        if k < 6:
            return self.output()
        if k < 9:
            text = self.tag(f"if {self.expr(2)}") + self.block(d)
            if r.random() < 0.3:
                text += self.tag(f"elif {self.expr(2)}") + self.block(d)
            if r.random() < 0.5:
                text += self.tag("else") + self.block(d)
            return text + self.tag("endif")
        if k < 13:
            over = r.choice(["messages", "words", "tools or []", "table", "table.items()", "range(3)", "messages[1:]", "[]", "messages | reverse",
                             self.items(2) if self.tame else r.choice(["x", self.expr(2)])])
            target = "m" if not over.endswith("items()") else "m, v1"
            test = f" if {self.expr(2)}" if r.random() < 0.25 else ""
            head = self.tag(f"for {target} in {over}{test}")
            self.loops += 1
            body = self.block(d)
            if r.random() < 0.2:
                body += self.tag(f"if {self.expr(2)}") + self.tag(r.choice(["break", "continue"])) + self.tag("endif") + self.space()
            self.loops -= 1
            if r.random() < 0.2:
                body += self.tag("else") + self.block(d)
            return head + body + self.tag("endfor")
        if k < 16:
            if self.tame:
                kind, name = r.choice([(self.text, "v1"), (self.items, "words"), (self.number, "n"), (self.number, "f"), (self.known, "x"), (self.truth, "flag")])
                return self.tag(f"set {name} = {kind(3)}")
            value = self.expr()
            return self.tag(f"set {self.target()} = {value}")
        if self.tame and k in (16, 17, 19):
            return r.choice([lambda: self.tag(f"set ns.w = {self.known(2)}"), lambda: self.tag("set v1") + self.block(d) + self.tag("endset"),
                             lambda: self.tag("filter upper | trim") + self.block(d) + self.tag("endfilter"), lambda: self.tag("set v1 | trim") + self.block(d) + self.tag("endset")])()
        if k == 16:
            return self.tag(r.choice([f"set ns.v = {self.expr(2)}", f"set ns.v = ns.v ~ {self.expr(1)}", f"set v1, v2 = {self.expr(1)}, {self.expr(1)}"]))
        if k == 17:
            body = self.block(d)
            return self.tag(f"set {self.target()}" + r.choice(["", "", " | trim", " | upper | length"])) + body + self.tag("endset")
        if k == 18:
            name = f"mac{len(self.macros)}"
            head = self.tag(f"macro {name}({r.choice(['', 'a', 'a, b=1', 'a=n, b=a', 'm'])})")
            saved, self.names, loops, self.loops = self.names, self.names + ["a", "b"] + r.choice([[], ["varargs"], ["kwargs"], ["caller"]]), self.loops, 0
            body = self.block(d)
            self.names, self.loops = saved, loops
            self.macros.append(name)
            return head + body + self.tag("endmacro")
        if k == 19:
            return self.tag(f"filter {r.choice(['upper', 'trim', 'indent(1)', 'replace(n, x)', 'tojson'])}") + self.block(d) + self.tag("endfilter")
        if k == 20:
            return r.choice([
                lambda: "{#" + r.choice(["", "-"]) + " c {{ %} " + r.choice(["", "-", "+"]) + "#}",
                lambda: self.tag("raw").replace("+%}", "%}") + r.choice(["{{ x }}", " {% if %} ", "\n"]) + self.tag("endraw"),
                lambda: self.tag("generation") + self.block(d) + self.tag("endgeneration"),
                lambda: self.tag(f"call {r.choice(self.macros)}({r.choice(['', 'n'])})") + self.block(d) + self.tag("endcall") if self.macros else ""])()
        return self.output(4)

    def template(self):
        start = self.r.choice(["", "", "{% set ns = namespace(v=0) %}", "{%- set ns = namespace(v='') -%}\n"])
        if self.tame:
            start = "{% set ns = namespace(v=0) %}"
        return start + self.block(3) + self.r.choice(["", "\n", "\n\n"])

    def word(self):
        return self.r.choice(WORDS)

    def value(self, depth=2):
        r = self.r
        k = r.randrange(9 if depth else 6)
        if k < 2:
            return self.word()
        if k < 6:
            return r.choice([0, 1, -7, 2 ** 70, 1.0, 0.1, -0.0, 1e300, None, True, False, 3, 12345678901234567890])
        if k == 6:
            return [self.value(depth - 1) for _ in range(r.randrange(4))]
        return {r.choice(["a", "b", "k", "role", "items", "é", "", "Z"]): self.value(depth - 1) for _ in range(r.randrange(4))}

    def message(self):
        r = self.r
        message = {"role": r.choice(["user", "assistant", "system", "tool", "User"])}
        content = r.choice([self.word, self.word, lambda: None, lambda: [{"type": "text", "text": self.word()}, {"type": "image"}], lambda: self.value()])()
        if r.random() < 0.9:
            message["content"] = content
        if r.random() < 0.2:
            message["tool_calls"] = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": self.value()}}]
        if r.random() < 0.2:
            message[r.choice(["name", "reasoning_content", "items", "tool_call_id"])] = self.word()
        return message

    def case(self, template=None):
        r = self.r
        kwargs = {"x": self.value(), "n": r.choice([0, 1, 2, 3, -1]), "f": r.choice([0.5, 2.0, 2.5, 1e16, -1.25]), "flag": r.random() < 0.5, "nothing": None,
                  "words": [self.word() for _ in range(r.randrange(4))], "table": {r.choice("bBacd"): self.value(1) for _ in range(r.randrange(4))}}
        return {"template": template or self.template(), "messages": [self.message() for _ in range(r.randint(1, 4))],
                "tools": r.choice([None, [], [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]]),
                "add_generation_prompt": r.random() < 0.5, "chat_template_kwargs": kwargs,
                "special_tokens": r.choice([{}, {"bos_token": "<s>", "eos_token": "</s>"}]), "now": "2026-01-31T12:34:56"}


def cases(first_seed, count, chats_per_template=8):
    """Cases with their seeds; a template is compiled once for several chats, which is what takes the time in Python."""
    made, seed = 0, first_seed
    while made < count:
        grammar = Grammar(seed)
        template = grammar.template()
        for _ in range(min(chats_per_template, count - made)):
            made += 1
            yield {"seed": seed, **grammar.case(template)}
        seed += 1
