/// The tokenizer: CPU time per token of a chat, by its length.
///
///   tokens_bench TOKENIZER.json PATTERN [TEXT...]   PATTERN: gpt2 llama3 qwen2 o200k tekken deepseek; texts
///   are files,
///                                                   cut to the lengths; without them a generated chat
///   tokens_bench --smoke                            small, over a tokenizer of single bytes
///
/// first: the first text of a tokenizer just made; cold: a text that comes after 64 KB of another one; warm:
/// the same text again. Then conversations of 20 messages, hashed block by block, with a memory of beginnings.
#include "base/hashing.hpp"
#include "clocks.hpp"
#include "require.hpp"
#include "tokenizer_json.hpp"
#include "tokens/prompt_memory.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace {

using kvindex::bench::cpu_nanos;
using kvindex::bench::require;
using kvindex::bench::tokenizer_json;
using namespace kvindex::tokens;

std::string file(const char* name) {
    std::ifstream in(name, std::ios::binary);
    require(in.good(), std::string(name) + " can be read");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bytes view(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Turns of words of all lengths, some often and many seldom, with marks and numbers between.
std::string generated_chat(std::size_t bytes) {
    std::mt19937_64 random(7);
    std::vector<std::string> words;
    for (int i = 0; i < 20'000; i++) {
        std::string word;
        for (std::size_t syllables = 1 + random() % 4; syllables > 0; syllables--) {
            word += "bcdfghklmnprstvw"[random() % 16];
            word += "aeiouy"[random() % 6];
        }
        words.push_back(word);
    }
    std::string text;
    while (text.size() < bytes) {
        text += "<|im_start|>user\n";
        for (int i = 0; i < 120; i++) {
            const std::size_t often = std::min(random() % words.size(), random() % words.size());
            text += words[std::min(often, random() % words.size())];
            text += i % 13 == 12 ? ".\n" : i % 7 == 6 ? ", " : i % 31 == 30 ? " 2026 " : " ";
        }
        text += "<|im_end|>\n";
    }
    text.resize(bytes);
    return text;
}

std::string_view cut(std::string_view text, std::size_t length) {
    while (length < text.size() && (text[length] & '\xc0') == '\x80') {
        length--;
    }
    return text.substr(0, length);
}

/// Tokens, and CPU ns of the best of some encodes.
struct measured {
    std::size_t tokens = 0;
    double nanos = 1e18;
};

measured once(const bpe_tokenizer& t, std::string_view text, std::vector<std::uint32_t>& ids) {
    measured m;
    const std::uint64_t begin = cpu_nanos();
    const auto outcome =
        t.encode({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, {}, ids, m.tokens);
    m.nanos = static_cast<double>(cpu_nanos() - begin);
    require(outcome == bpe_tokenizer::outcome::done, "the text is encoded");
    return m;
}

void keep_better(measured& best, const measured& m) {
    best.tokens = m.tokens;
    best.nanos = std::min(best.nanos, m.nanos);
}

void measure(const tokenizer_json& json, pattern which, const std::string& text, std::size_t length,
             int rounds) {
    const std::string_view part = cut(text, std::min(length, text.size()));
    std::vector<std::uint32_t> ids(part.size() * 3 + 16);
    std::size_t from = text.size() - text.size() / 8;
    while (from < text.size() && (text[from] & '\xc0') == '\x80') {
        from++;
    }
    const std::string other{cut(std::string_view(text).substr(from), 64u << 10)};
    measured first;
    measured cold;
    measured warm;
    for (int round = 0; round < rounds; round++) {
        const auto t = json.make(which, false);
        require(t != nullptr, "the file makes a tokenizer");
        keep_better(first, once(*t, part, ids));
        const auto running = json.make(which, false);
        std::vector<std::uint32_t> unused(other.size() * 3 + 16);
        once(*running, other, unused);
        keep_better(cold, once(*running, part, ids));
        for (int again = 0; again < 5; again++) {
            keep_better(warm, once(*t, part, ids));
            require(warm.tokens == cold.tokens && first.tokens == cold.tokens,
                    "a text has the same ids each time");
        }
        std::vector<std::uint8_t> back(part.size() * 3 + 16);
        const auto restored = t->decode({ids.data(), cold.tokens}, false, back);
        require(restored && *restored == part.size() && std::memcmp(back.data(), part.data(), part.size()) == 0,
                "the ids are the text");
    }
    const auto count = static_cast<double>(cold.tokens);
    std::printf(
        "%8zu bytes %7zu tokens   first %6.1f   cold %6.1f   warm %6.1f ns a token   cold %5.1f M tokens/s\n",
        part.size(), cold.tokens, first.nanos / count, cold.nanos / count, warm.nanos / count,
        count / cold.nanos * 1e3);
}

/// A conversation of 20 messages of the text, about so many tokens: its blocks' hashes with all of it new, and
/// with all but the last two messages known, beside ids, hashed afterwards, of which nothing is remembered.
void measure_conversation(const tokenizer_json& json, pattern which, const std::string& text, std::size_t bytes,
                          int rounds) {
    constexpr std::size_t messages = 20;
    const auto t = json.make(which, false);
    std::vector<std::string> asked(1);
    std::string begun;
    std::string_view rest = text;
    for (std::size_t i = 0; i < messages; i++) {
        const std::string_view part = cut(rest, std::min(bytes / messages, rest.size()));
        rest.remove_prefix(part.size());
        const std::string message = "<|im_start|>" + std::string(i % 2 == 0 ? "user\n" : "assistant\n") +
                                    std::string(part) + "<|im_end|>\n";
        (i < messages - 2 ? begun : asked[0]) += message;
    }
    const std::string whole = begun + asked[0];
    std::vector<std::uint32_t> ids(whole.size() * 3 + 16);
    std::vector<kvindex::local_hash> expected;
    measured plain;
    measured fresh;
    measured known;
    measured all_known;
    std::vector<kvindex::local_hash> locals;
    hashed_text result;
    const auto hash = [&](prompt_memory& memory, const std::string& prompt, measured& best) {
        const std::uint64_t begin = cpu_nanos();
        const auto outcome = t->hash(view(prompt), {}, &memory, locals, result);
        keep_better(best, {result.tokens, static_cast<double>(cpu_nanos() - begin)});
        require(outcome == bpe_tokenizer::outcome::done, "the text is hashed");
    };
    for (int round = 0; round < rounds; round++) {
        const std::uint64_t begin = cpu_nanos();
        measured m = once(*t, whole, ids);
        expected.resize(m.tokens / 16);
        kvindex::hash_blocks(ids.data(), 16, 0, expected);
        m.nanos = static_cast<double>(cpu_nanos() - begin);
        keep_better(plain, m);
        prompt_memory memory(64u << 20);
        hash(memory, whole, fresh);
        prompt_memory other(64u << 20);
        measured unused;
        hash(other, begun, unused);
        hash(other, whole, known);
        require(locals == expected, "remembered hashes are those of the ids");
        hash(other, whole, all_known);
        require(locals == expected && result.tokens == plain.tokens, "remembered hashes are those of the ids");
    }
    std::printf(
        "%8zu bytes %7zu tokens, 20 messages   ids, then hashes %8.1f   hashes %8.1f   a tenth new %7.1f   "
        "known %6.1f us\n",
        whole.size(), plain.tokens, plain.nanos / 1e3, fresh.nanos / 1e3, known.nanos / 1e3,
        all_known.nanos / 1e3);
}

pattern named(const std::string& name) {
    const char* names[] = {"gpt2", "llama3", "qwen2", "qwen35", "o200k", "tekken", "", "", "deepseek"};
    for (std::uint32_t i = 0; i < std::size(names); i++) {
        if (!name.empty() && name == names[i]) {
            return static_cast<pattern>(i);
        }
    }
    require(false, name + " is a pattern");
    return pattern::gpt2;
}

/// All bytes, no merges.
std::string byte_tokenizer() {
    std::string json = "{\"vocab\":{";
    std::vector<std::uint8_t> letter;
    int next = 256;
    for (int b = 0; b < 256; b++) {
        const bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        letter.clear();
        append_utf8(static_cast<char32_t>(printable ? b : next++), letter);
        json += b == 0 ? "\"" : ",\"";
        json += b == '"' || b == '\\' ? "\\" : "";
        json.append(letter.begin(), letter.end());
        json += "\":" + std::to_string(b);
    }
    return json + "},\"merges\":[\"t h\",[\"th\",\"e\"]],\"end\":0}";
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--smoke") == 0) {
        std::string json = byte_tokenizer();
        json.replace(json.find("},"), 1, ",\"th\":256,\"the\":257}");
        measure(tokenizer_json(json), pattern::qwen2, generated_chat(20'000), 20'000, 1);
        measure_conversation(tokenizer_json(json), pattern::qwen2, generated_chat(20'000), 20'000, 1);
        return 0;
    }
    require(argc >= 3, "use: tokens_bench TOKENIZER.json PATTERN [TEXT...]");
    const std::string json = file(argv[1]);
    const tokenizer_json parsed(json);
    std::string text;
    for (int i = 3; i < argc; i++) {
        text += file(argv[i]);
    }
    require(well_formed(view(text)), "the texts are UTF-8");
    if (text.empty()) {
        text = generated_chat(1 << 20);
    }
    for (const std::size_t tokens : {1'000u, 8'000u, 100'000u}) {
        measure(parsed, named(argv[2]), text, tokens * 4, 3);
    }
    for (const std::size_t tokens : {1'000u, 8'000u, 100'000u}) {
        measure_conversation(parsed, named(argv[2]), text, tokens * 4, 15);
    }
    return 0;
}
