/// A prompt's text to the hashes of its blocks.
#include "tokens/block_sink.hpp"
#include "tokens/prompt_memory.hpp"
#include "tokens/run.hpp"

namespace kvindex::tokens {

namespace {

/// The places of one prompt, from the left. See prompt_memory.hpp.
class places {
public:
    places(const added_tokens& added, bytes text, bool specials)
        : m_added(added), m_at(text.data()), m_end(text.data() + text.size()), m_specials(specials) {
    }

    bytes rest() const {
        return {m_at, m_end};
    }

    struct place {
        bytes text; ///< since the place before
        bool last;  ///< nothing follows
        bool kept;
    };

    place next() const {
        added_tokens::place found = m_added.find(m_at, m_at, m_end, m_specials);
        while (found.end != nullptr &&
               static_cast<std::size_t>(found.end - m_at) < prompt_memory::least_piece) {
            found = m_added.find(found.end, m_at, m_end, m_specials);
        }
        const bytes text{m_at, found.end != nullptr ? found.end : m_end};
        return {text, found.end == nullptr, text.size() >= prompt_memory::least_piece};
    }

    void go_on(const place& behind) {
        m_at += behind.text.size();
    }

private:
    const added_tokens& m_added;
    const std::uint8_t* m_at;
    const std::uint8_t* const m_end;
    const bool m_specials;
};

} // namespace

bpe_tokenizer::outcome bpe_tokenizer::hash(bytes text, const hash_request& request, prompt_memory* memory,
                                           std::vector<local_hash>& locals, hashed_text& result) const {
    if (text.size() > max_text) {
        return outcome::not_text;
    }
    if (m_added.strips_behind()) {
        memory = nullptr;
    }
    lent_scratch s(*this);
    locals.clear();
    block_sink sink(request.block_size, request.seed, locals, s->block);
    places cuts(m_added, text, request.flags.parse_special);
    prompt_memory::key key;
    bool begun = false;
    places::place piece{};
    if (memory != nullptr) {
        const std::uint32_t flags =
            (request.flags.add_special ? 1u : 0u) | (request.flags.parse_special ? 2u : 0u);
        key = memory->origin(m_number, flags, request.block_size, request.seed);
        for (piece = cuts.next(); piece.kept; piece = cuts.next()) {
            const prompt_memory::key behind = memory->next(key, piece.text, piece.last);
            const auto known = memory->find(behind);
            if (known == nullptr) {
                break;
            }
            sink.go_on(known->blocks, known->behind);
            cuts.go_on(piece);
            key = behind;
            begun = true;
        }
    }
    result = {};
    result.known_tokens = sink.tokens();
    result.new_bytes = cuts.rest().size();
    if (result.new_bytes > request.most_new) {
        result.too_much = true;
        return outcome::done;
    }
    // What is known was looked at when it was new.
    if (!well_formed(cuts.rest())) {
        return outcome::not_text;
    }
    if (!begun && request.flags.add_special) {
        sink.put(m_before);
    }
    run<block_sink> rest(*this, *s, sink);
    if (memory == nullptr) {
        rest.text(text, request.flags.parse_special);
    } else {
        std::size_t told = locals.size();
        for (; !cuts.rest().empty(); cuts.go_on(piece)) {
            piece = cuts.next();
            rest.text(piece.text, request.flags.parse_special);
            if (piece.kept) {
                key = memory->next(key, piece.text, piece.last);
                sink.settle();
                const auto fresh = std::span(locals).subspan(told);
                const auto behind = sink.behind();
                memory->keep(key, {{fresh.begin(), fresh.end()}, {behind.begin(), behind.end()}});
                told = locals.size();
            }
        }
    }
    if (request.flags.add_special) {
        sink.put(m_behind);
    }
    sink.settle();
    result.tokens = sink.tokens();
    return outcome::done;
}

} // namespace kvindex::tokens
