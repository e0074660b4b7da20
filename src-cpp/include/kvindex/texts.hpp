/// Tokeniser and index in one call: ids are hashed as they are made and kept nowhere.
///
/// Any thread, as prefix_index::match() and bpe_tokenizer::hash().
#pragma once

#include "kvindex/prefix_index.hpp"
#include "tokens/bpe_tokenizer.hpp"
#include "tokens/prompt_memory.hpp"

namespace kvindex {

struct text_query {
    tokens::hash_request how;
    std::uint16_t name_space = 0;
};

struct text_match {
    tokens::hashed_text text;
    std::uint32_t blocks = 0; ///< written to `locals`
    std::uint32_t hits = 0;   ///< written to `hits`
    bool is_text = true;      ///< false: not well formed
    bool fits = true;         ///< false: not room enough, what was written means nothing
};

/// Who holds how much of a text's complete blocks, and these blocks' local hashes. Nothing is looked up when
/// too much of the text is new (hash_request::most_new).
text_match match_text(const prefix_index& index, const tokens::bpe_tokenizer& tokenizer,
                      tokens::prompt_memory* memory, tokens::bytes text, const text_query& query,
                      std::span<local_hash> locals, std::span<hit> hits);

/// The same with a text in UTF-16, which is no text when a surrogate has no partner.
text_match match_text(const prefix_index& index, const tokens::bpe_tokenizer& tokenizer,
                      tokens::prompt_memory* memory, std::span<const std::uint16_t> text,
                      const text_query& query, std::span<local_hash> locals, std::span<hit> hits);

} // namespace kvindex
