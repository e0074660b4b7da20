#include "tokenizer_json.hpp"

#include "require.hpp"

#include <array>

namespace kvindex::bench {

namespace {

/// The letters that stand for bytes: printable ones for themselves, the others from U+0100 on.
std::array<int, 324> byte_of_letter() {
    std::array<int, 324> bytes{};
    bytes.fill(-1);
    std::size_t next = 256;
    for (int b = 0; b < 256; b++) {
        const bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        bytes[printable ? static_cast<std::size_t>(b) : next++] = b;
    }
    return bytes;
}

} // namespace

tokenizer_json::tokenizer_json(const std::string& text) : m_text(text) {
    skip_to("\"vocab\"");
    read_vocabulary();
    skip_to("\"merges\"");
    read_merges();
}

void tokenizer_json::skip_to(const char* what) {
    m_at = m_text.find(what, m_at);
    require(m_at != std::string::npos, std::string("the file has ") + what);
    m_at = m_text.find_first_of("{[", m_at) + 1;
}

bool tokenizer_json::next_is(char c) {
    m_at = m_text.find_first_not_of(" \n\r\t,:", m_at);
    if (m_text[m_at] != c) {
        return false;
    }
    m_at++;
    return true;
}

std::string tokenizer_json::string() {
    require(next_is('"'), "a string is there");
    std::string value;
    std::vector<std::uint8_t> letter;
    while (m_text[m_at] != '"') {
        if (m_text[m_at] != '\\') {
            value += m_text[m_at++];
            continue;
        }
        const char escape = m_text[m_at + 1];
        m_at += 2;
        if (escape == 'u') {
            letter.clear();
            tokens::append_utf8(static_cast<char32_t>(std::stoul(m_text.substr(m_at, 4), nullptr, 16)), letter);
            value.append(letter.begin(), letter.end());
            m_at += 4;
        } else {
            value += escape; // of " and \ only: other control characters are letters here
        }
    }
    m_at++;
    return value;
}

std::uint32_t tokenizer_json::number() {
    m_at = m_text.find_first_of("0123456789", m_at);
    std::size_t end = 0;
    const auto value = std::stoul(m_text.substr(m_at, 10), &end);
    m_at += end;
    return static_cast<std::uint32_t>(value);
}

void tokenizer_json::read_vocabulary() {
    const auto bytes = byte_of_letter();
    while (!next_is('}')) {
        const std::string letters = string();
        const std::uint32_t id = number();
        m_ids[letters] = id;
        std::string content;
        bool is_bytes = !letters.empty();
        for (std::size_t i = 0; i < letters.size() && is_bytes;) {
            const auto at = tokens::decode(reinterpret_cast<const std::uint8_t*>(letters.data()) + i);
            is_bytes = at.c < bytes.size() && bytes[at.c] >= 0;
            content += is_bytes ? static_cast<char>(bytes[at.c]) : ' ';
            i += at.length;
        }
        if (is_bytes) {
            m_contents.push_back(content);
            m_content_ids.push_back(id);
        }
    }
}

void tokenizer_json::read_merges() {
    while (!next_is(']')) {
        std::string left;
        std::string right;
        if (next_is('[')) {
            left = string();
            right = string();
            require(next_is(']'), "a merge has two parts");
        } else {
            left = string();
            const std::size_t gap = left.find(' ');
            right = left.substr(gap + 1);
            left.resize(gap);
        }
        m_merges.push_back({m_ids.at(left), m_ids.at(right), m_ids.at(left + right)});
    }
}

std::unique_ptr<tokens::bpe_tokenizer> tokenizer_json::make(tokens::pattern which, bool ignore_merges) const {
    std::vector<tokens::vocabulary_entry> vocabulary;
    for (std::size_t i = 0; i < m_contents.size(); i++) {
        const auto* content = reinterpret_cast<const std::uint8_t*>(m_contents[i].data());
        vocabulary.push_back({m_content_ids[i], {content, m_contents[i].size()}});
    }
    std::vector<tokens::pattern> steps{which};
    if (which == tokens::pattern::deepseek) {
        steps = {tokens::pattern::three_digits, tokens::pattern::cjk, which};
    }
    std::uint32_t next = 1'900'000;
    std::vector<tokens::added_token> added;
    for (const char* content : {"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>"}) {
        const std::string_view text = content;
        added.push_back({next++, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, true});
    }
    tokens::bpe_parts parts;
    parts.vocabulary = vocabulary;
    parts.merges = m_merges;
    parts.steps = steps;
    parts.added = added;
    parts.nfc = which == tokens::pattern::qwen2;
    parts.ignore_merges = ignore_merges;
    return tokens::bpe_tokenizer::make(parts);
}

} // namespace kvindex::bench
