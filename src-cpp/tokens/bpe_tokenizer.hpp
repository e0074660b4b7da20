/// A byte-level byte-pair tokenizer, as tokenizer.json describes it: the same ids as the reference.
///
/// Immutable and shared: any number of threads encode at once. Each call borrows a scratch, which has a cache
/// of words; what a cache knows changes nothing but the time.
#pragma once

#include "base/types.hpp"
#include "tokens/added_tokens.hpp"
#include "tokens/merges.hpp"
#include "tokens/nfc.hpp"
#include "tokens/patterns.hpp"
#include "tokens/vocabulary.hpp"

#include <memory>
#include <mutex>
#include <optional>

namespace kvindex::tokens {

struct vocabulary_entry {
    std::uint32_t id;
    bytes content;
};

/// What a tokenizer is made of. Nothing of it is kept.
struct bpe_parts {
    std::span<const vocabulary_entry> vocabulary; ///< every single byte has to be there
    std::span<const merge> merges;                ///< in rank order
    std::span<const added_token> added;
    std::span<const pattern> steps;        ///< each cuts the pieces of the one before
    std::span<const std::uint32_t> before; ///< put around a raw prompt
    std::span<const std::uint32_t> behind;
    bool nfc = false;
    bool ignore_merges = false; ///< a piece that is a token is that token, whatever the merges say
};

struct encode_flags {
    bool add_special = false;  ///< what the model puts around a raw prompt
    bool parse_special = true; ///< special tokens written in the text are tokens
};

struct hash_request {
    encode_flags flags{};
    std::uint32_t block_size = 16;
    std::uint64_t seed = 0;
    std::uint64_t most_new = ~std::uint64_t{0}; ///< bytes that may be tokenised
};

struct hashed_text {
    std::uint64_t tokens = 0;       ///< of the whole text
    std::uint64_t known_tokens = 0; ///< of these, not tokenised now
    std::uint64_t new_bytes = 0;    ///< tokenised now, or to be
    bool too_much = false;          ///< more than most_new are new: there are no hashes, and nothing was done
};

class prompt_memory;

class bpe_tokenizer {
public:
    static constexpr std::uint64_t max_text = 0x7fffffff;

    /// Null when the parts do not fit together. O(vocabulary + merges).
    static std::unique_ptr<bpe_tokenizer> make(const bpe_parts& parts);

    ~bpe_tokenizer();

    enum class outcome { done, not_text, no_room };

    /// The ids of a text, at most as many as there is room for. `not_text`: it is not UTF-8.
    outcome encode(bytes text, encode_flags flags, std::span<std::uint32_t> ids, std::size_t& count) const;

    /// The local hashes of the text's complete blocks, without its ids: those of the prompt's beginning as the
    /// memory has them, if there is one, the rest of what is tokenised now and remembered there. The same
    /// hashes as encode() and hash_blocks() give, whatever is remembered.
    outcome hash(bytes text, const hash_request& request, prompt_memory* memory,
                 std::vector<local_hash>& locals, hashed_text& result) const;

    /// The bytes of the ids, how many; what is no id has none. Nothing when there is no room.
    std::optional<std::size_t> decode(std::span<const std::uint32_t> ids, bool skip_special,
                                      std::span<std::uint8_t> out) const;

private:
    class scratch;
    class lent_scratch;
    template <typename Sink>
    class run;

    bpe_tokenizer() = default;

    bool build(const bpe_parts& parts);
    bool index_reachable();
    std::unique_ptr<scratch> borrow() const;
    void give_back(std::unique_ptr<scratch> s) const noexcept;

    vocabulary m_vocabulary;
    merge_table m_merges;
    added_tokens m_added;        // looked for in the text as it is
    added_tokens m_normalized;   // after the normaliser
    std::vector<bool> m_special; // by id
    std::vector<pattern> m_steps;
    std::vector<std::uint32_t> m_before;
    std::vector<std::uint32_t> m_behind;
    std::array<std::uint32_t, 256> m_bytes{}; // ids
    std::uint64_t m_number = 0;               // no two have the same
    bool m_nfc = false;
    bool m_ignore_merges = false;

    /// Guards the spares; held for a push or a pop.
    mutable std::mutex m_lending;
    mutable std::vector<std::unique_ptr<scratch>> m_spare; // has room for all that are kept
};

} // namespace kvindex::tokens
