/// Fuzz body: the first two bytes choose a tokenizer, the others are the text. Its ids are those of the literal
/// rule over its pieces, the same when it comes again, and its bytes when they are decoded. The hashes of its
/// blocks are those of its ids, with a memory and without, and whatever beginning of it the memory knows.
#include "base/hashing.hpp"
#include "small_tokenizer.hpp"
#include "tokens/prompt_memory.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace kvindex::tokens;
using kvindex::tests::literal_merges;
using kvindex::tests::small_tokenizer;

#define REQUIRE(condition)                                                                                     \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                 \
            std::abort();                                                                                      \
        }                                                                                                      \
    } while (0)

constexpr std::size_t literal_piece = 400; // the literal rule is slow

/// A text without added tokens: pieces one by one.
void compare_with_literal(const small_tokenizer& t, pattern which, bytes text,
                          const std::vector<std::uint32_t>& ids) {
    std::size_t at = 0;
    const std::uint8_t* expected_begin = text.data();
    bool all_compared = true;
    with_matcher(which, [&](const auto& matcher) {
        split(matcher, text.data(), text.data() + text.size(),
              [&](const std::uint8_t* begin, const std::uint8_t* end) {
                  REQUIRE(begin == expected_begin && begin != end);
                  expected_begin = end;
                  all_compared = all_compared && static_cast<std::size_t>(end - begin) <= literal_piece;
                  if (!all_compared) {
                      return;
                  }
                  const auto merged = literal_merges(t.merges, {begin, end});
                  REQUIRE(at + merged.size() <= ids.size());
                  REQUIRE(
                      std::equal(merged.begin(), merged.end(), ids.begin() + static_cast<std::ptrdiff_t>(at)));
                  at += merged.size();
              });
    });
    REQUIRE(expected_begin == text.data() + text.size());
    REQUIRE(!all_compared || at == ids.size());
}

void compare_hashes(const small_tokenizer& t, bool specials, bytes text,
                    const std::vector<std::uint32_t>& ids) {
    const hash_request asked{.flags = {false, specials},
                             .block_size = 1 + static_cast<std::uint32_t>(text.size() % 7)};
    std::vector<kvindex::local_hash> expected(ids.size() / asked.block_size);
    kvindex::hash_blocks(ids.data(), asked.block_size, asked.seed, expected);
    prompt_memory memory(1 << 20);
    std::vector<kvindex::local_hash> locals;
    hashed_text result;
    // A beginning that is cut within a character is refused, and nothing of it may stay.
    t.tokenizer->hash(text.first(text.size() - text.size() / 4), asked, &memory, locals, result);
    for (prompt_memory* with : {static_cast<prompt_memory*>(nullptr), &memory, &memory}) {
        REQUIRE(t.tokenizer->hash(text, asked, with, locals, result) == bpe_tokenizer::outcome::done);
        REQUIRE(locals == expected && result.tokens == ids.size() && !result.too_much);
    }
}

void run(pattern which, bool nfc, bool strips, bool specials, bytes text) {
    const small_tokenizer t(which, nfc, strips);
    std::vector<std::uint32_t> ids(3 * text.size() + 2);
    std::size_t count = 0;
    const encode_flags flags{false, specials};
    const auto outcome = t.tokenizer->encode(text, flags, ids, count);
    REQUIRE(outcome == (well_formed(text) ? bpe_tokenizer::outcome::done : bpe_tokenizer::outcome::not_text));
    if (outcome != bpe_tokenizer::outcome::done) {
        return;
    }
    ids.resize(count);
    std::vector<std::uint32_t> again(count);
    REQUIRE(t.tokenizer->encode(text, flags, again, count) == bpe_tokenizer::outcome::done && again == ids);
    if (count != 0) {
        REQUIRE(t.tokenizer->encode(text, flags, {again.data(), ids.size() - 1}, count) ==
                bpe_tokenizer::outcome::no_room);
    }
    compare_hashes(t, specials, text, ids);
    nfc_normalizer once;
    nfc_normalizer twice;
    const bytes normal = nfc ? once.normalize(text) : text;
    if (nfc) {
        const bytes same = twice.normalize(normal);
        REQUIRE(std::equal(normal.begin(), normal.end(), same.begin(), same.end()));
    }
    // Added tokens begin with "<".
    if (std::find(text.begin(), text.end(), '<') == text.end()) {
        std::vector<std::uint8_t> back(normal.size());
        const auto length = t.tokenizer->decode(ids, false, back);
        REQUIRE(length && *length == normal.size() && std::equal(back.begin(), back.end(), normal.begin()));
        compare_with_literal(t, which, normal, ids);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size >= 2) {
        run(static_cast<pattern>(data[0] % pattern_count), (data[1] & 1) != 0, (data[1] & 4) != 0,
            (data[1] & 2) != 0, {data + 2, size - 2});
    }
    return 0;
}
