/// From a prompt's text to who holds how much of it.
#include "kvindex/texts.hpp"

#include "tokens/utf16.hpp"

#include <algorithm>

namespace kvindex {

text_match match_text(const prefix_index& index, const tokens::bpe_tokenizer& tokenizer,
                      tokens::prompt_memory* memory, tokens::bytes text, const text_query& query,
                      std::span<local_hash> locals, std::span<hit> hits) {
    static thread_local std::vector<local_hash> mine;
    constexpr std::size_t keep = std::size_t{1} << 17;
    text_match result;
    const auto outcome = tokenizer.hash(text, query.how, memory, mine, result.text);
    if (outcome != tokens::bpe_tokenizer::outcome::done) {
        result.is_text = false;
    } else if (mine.size() > locals.size()) {
        result.fits = false;
    } else if (!result.text.too_much) {
        const match_result found = index.match(query.name_space, mine, hits);
        result.fits = found.fits;
        if (result.fits) {
            std::copy(mine.begin(), mine.end(), locals.begin());
            result.blocks = static_cast<std::uint32_t>(mine.size());
            result.hits = found.hits;
        }
    }
    if (mine.capacity() > keep) {
        mine = {};
    }
    return result;
}

text_match match_text(const prefix_index& index, const tokens::bpe_tokenizer& tokenizer,
                      tokens::prompt_memory* memory, std::span<const std::uint16_t> text,
                      const text_query& query, std::span<local_hash> locals, std::span<hit> hits) {
    static thread_local std::vector<std::uint8_t> room;
    constexpr std::size_t keep = std::size_t{1} << 20;
    const std::optional<tokens::bytes> utf8 = tokens::to_utf8(text, room);
    text_match result;
    if (utf8) {
        result = match_text(index, tokenizer, memory, *utf8, query, locals, hits);
    } else {
        result.is_text = false;
    }
    if (room.size() > keep) {
        room = {};
    }
    return result;
}

} // namespace kvindex
