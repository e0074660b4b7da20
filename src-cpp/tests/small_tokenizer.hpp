/// A tokenizer of all bytes and some merges of the letters a to d, and the rule of merging taken literally.
#pragma once

#include "tokens/bpe_tokenizer.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace kvindex::tests {

inline tokens::bytes as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// The pair of the lowest rank, of equals the leftmost, again and again.
inline std::vector<std::uint32_t> literal_merges(const std::vector<tokens::merge>& merges,
                                                 std::vector<std::uint32_t> ids) {
    for (;;) {
        std::size_t best_rank = merges.size();
        std::size_t best_at = 0;
        for (std::size_t i = 0; i + 1 < ids.size(); i++) {
            for (std::size_t rank = 0; rank < best_rank; rank++) {
                if (merges[rank].left == ids[i] && merges[rank].right == ids[i + 1]) {
                    best_rank = rank;
                    best_at = i;
                }
            }
        }
        if (best_rank == merges.size()) {
            return ids;
        }
        ids[best_at] = merges[best_rank].result;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
    }
}

class small_tokenizer {
public:
    /// `strips_behind`: one added token takes the white space behind it.
    explicit small_tokenizer(tokens::pattern step = tokens::pattern::qwen2, bool nfc = false,
                             bool strips_behind = true)
        : rstrip(strips_behind) {
        tokens::bpe_parts parts = fill();
        steps[0] = step;
        parts.nfc = nfc;
        tokenizer = tokens::bpe_tokenizer::make(parts);
        table.build(merges);
    }

    /// Made of parts with this mistake.
    static std::unique_ptr<tokens::bpe_tokenizer> broken(std::string_view mistake) {
        small_tokenizer t;
        tokens::bpe_parts parts = t.fill();
        if (mistake == "a byte is missing") {
            parts.vocabulary = parts.vocabulary.subspan(1);
        } else if (mistake == "a pair twice") {
            t.merges.push_back(t.merges[0]);
            parts.merges = t.merges;
        } else if (mistake == "an id twice") {
            t.vocabulary.push_back({1, as_bytes("zz")});
            parts.vocabulary = t.vocabulary;
        } else if (mistake == "an unknown id in a merge") {
            t.merges.push_back({'x', 'y', 5000});
            parts.merges = t.merges;
        } else if (mistake == "an added token twice") {
            t.added.push_back(t.added[0]);
            parts.added = t.added;
        }
        return tokens::bpe_tokenizer::make(parts);
    }

    std::vector<std::uint32_t> encode(std::string_view text, bool specials, bool surround = false) const {
        std::vector<std::uint32_t> ids(3 * text.size() + 8);
        std::size_t count = 0;
        if (tokenizer->encode(as_bytes(text), {surround, specials}, ids, count) !=
            tokens::bpe_tokenizer::outcome::done) {
            return {};
        }
        ids.resize(count);
        return ids;
    }

    std::string text_of(const std::vector<std::uint32_t>& ids) const {
        std::string text;
        for (const std::uint32_t id : ids) {
            text += (text.empty() ? "" : "|") + contents.at(id);
        }
        return text;
    }

    std::vector<tokens::merge> merges;
    tokens::merge_table table;
    std::unique_ptr<tokens::bpe_tokenizer> tokenizer;

private:
    tokens::bpe_parts fill() {
        vocabulary.clear();
        merges.clear();
        added.clear();
        for (std::uint32_t b = 0; b < 256; b++) {
            contents[b] = std::string(1, static_cast<char>(b));
        }
        std::uint32_t next = 256;
        const auto join = [&](const std::string& left, const std::string& right) {
            const auto id_of = [&](const std::string& text) {
                return std::find_if(contents.begin(), contents.end(),
                                    [&](const auto& entry) { return entry.second == text; })
                    ->first;
            };
            merges.push_back({id_of(left), id_of(right), next});
            contents[next++] = left + right;
        };
        join("b", "a");
        join("a", "a");
        join("c", "d");
        join("a", "b");
        join("aa", "b");
        join("cd", "cd");
        join("ba", "ba");
        join("aa", "aa");
        join("d", "ab");
        join(" ", "aa");
        join("aaaa", "aaaa");
        for (const auto& [id, content] : contents) {
            vocabulary.push_back({id, as_bytes(content)});
        }
        const auto add = [&](const char* content, bool special, bool strips) {
            contents[next] = content;
            added.push_back({next, as_bytes(contents[next]), special, false, strips, strips && rstrip});
            next++;
        };
        add("<a>", false, false);
        add("<s>", true, false);
        add("<a><b>", false, false);
        add("<strip>", true, true);
        before = {next - 3};
        behind = {next - 4};
        tokens::bpe_parts parts;
        parts.vocabulary = vocabulary;
        parts.merges = merges;
        parts.added = added;
        parts.steps = steps;
        parts.before = before;
        parts.behind = behind;
        return parts;
    }

    bool rstrip;
    std::map<std::uint32_t, std::string> contents; // nodes: a text stays where it is
    std::vector<tokens::vocabulary_entry> vocabulary;
    std::vector<tokens::added_token> added;
    std::vector<tokens::pattern> steps{tokens::pattern::qwen2};
    std::vector<std::uint32_t> before;
    std::vector<std::uint32_t> behind;
};

} // namespace kvindex::tests
