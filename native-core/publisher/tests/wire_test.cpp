/// The bytes of SGLang 0.5.23's own structs under its own msgspec: cases of
/// src/test/resources/vectors/kv-events-zmq.json.
#include "publisher/block_ids.hpp"
#include "publisher/wire.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace kvpub {
namespace {

constexpr std::uint64_t a = 13469532162986437375u; // the top bit set: SGLang writes it as a negative number
constexpr std::uint64_t b = 90435953025800507u;

std::string hex(const bytes& in) {
    std::string out;
    for (const std::uint8_t byte : in) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", byte);
        out += two;
    }
    return out;
}

TEST(wire, two_pages_are_written_as_sglang_writes_them) {
    bytes events;
    const std::uint32_t tokens[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::uint64_t ids[] = {a, b};
    put_stored(events, {.ids = {ids, 1}, .tokens = {tokens, 4}, .block_size = 4, .medium = "GPU"});
    put_stored(events,
               {.ids = {ids + 1, 1}, .parent = a, .tokens = {tokens + 4, 4}, .block_size = 4, .medium = "GPU"});
    EXPECT_EQ(
        hex(batch_of(1.5, 2, events, 0)),
        "93cb3ff80000000000009287a474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657391d3baed6423398"
        "16affb1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f6964739400010203aa626c6f636b5f73697a6504a76"
        "c6f72615f6964c0a66d656469756da347505587a474797065ab426c6f636b53746f726564ac626c6f636b5f6861736865739"
        "1cf01414b052706d93bb1706172656e745f626c6f636b5f68617368d3baed642339816affa9746f6b656e5f6964739404050"
        "607aa626c6f636b5f73697a6504a76c6f72615f6964c0a66d656469756da347505500");
}

TEST(wire, an_adapter_and_a_salt_are_written_as_sglang_writes_them) {
    const std::uint32_t tokens[] = {0, 1, 2, 3};
    const std::uint64_t ids[] = {a};
    bytes lora;
    put_stored(lora, {.ids = ids, .tokens = tokens, .block_size = 4, .medium = "GPU", .lora = "sql-adapter"});
    EXPECT_EQ(
        hex(batch_of(1.5, 1, lora, 0)),
        "93cb3ff80000000000009188a474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657391d3baed6423398"
        "16affb1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f6964739400010203aa626c6f636b5f73697a6504a76"
        "c6f72615f6964c0a66d656469756da3475055a96c6f72615f6e616d65ab73716c2d6164617074657200");
    bytes salt;
    put_stored(salt, {.ids = ids, .tokens = tokens, .block_size = 4, .medium = "GPU", .salt = "tenant-a"});
    EXPECT_EQ(
        hex(batch_of(1.5, 1, salt, 0)),
        "93cb3ff80000000000009188a474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657391d3baed6423398"
        "16affb1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f6964739400010203aa626c6f636b5f73697a6504a76"
        "c6f72615f6964c0a66d656469756da3475055aa63616368655f73616c74a874656e616e742d6100");
}

TEST(wire, removal_and_clear_are_written_as_sglang_writes_them) {
    const std::uint64_t ids[] = {a, b};
    bytes removed;
    put_removed(removed, ids, "CPU_PINNED");
    EXPECT_EQ(
        hex(batch_of(1.5, 1, removed, 1)),
        "93cb3ff80000000000009183a474797065ac426c6f636b52656d6f766564ac626c6f636b5f68617368657392d3baed64233"
        "9816affcf01414b052706d93ba66d656469756daa4350555f50494e4e454401");
    bytes cleared;
    put_cleared(cleared);
    EXPECT_EQ(hex(batch_of(1.5, 1, cleared, 0)),
              "93cb3ff80000000000009181a474797065b0416c6c426c6f636b73436c656172656400");
}

TEST(wire, numbers_take_the_shortest_form) {
    const std::uint32_t tokens[] = {127, 128, 255, 256, 65535, 65536, 4294967295u};
    const std::uint64_t ids[] = {~std::uint64_t{0}, std::uint64_t{0} - 33, std::uint64_t{0} - 129,
                                 std::uint64_t{0} - 32769, std::uint64_t{0} - 2147483649u};
    bytes out;
    put_stored(out, {.ids = ids, .tokens = tokens, .block_size = 7, .medium = "GPU"});
    const std::string text = hex(out);
    EXPECT_NE(text.find("95ffd0dfd1ff7fd2ffff7fffd3ffffffff7fffffff"), std::string::npos) << text;
    EXPECT_NE(text.find("977fcc80ccffcd0100cdffffce00010000ceffffffff"), std::string::npos) << text;
}

TEST(wire, only_utf8_is_text) {
    EXPECT_TRUE(is_utf8("\xc3\xbcser \xe2\x82\xac \xf0\x9f\x98\x80"));
    for (const char* wrong :
         {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
        EXPECT_FALSE(is_utf8(wrong)) << hex(bytes(wrong, wrong + std::char_traits<char>::length(wrong)));
    }
}

/// The chain of src-cpp/tests/data/block-hashes.json, "counting tokens, two blocks of 4".
TEST(block_ids, are_the_chained_hashes_whether_told_at_once_or_one_by_one) {
    const std::uint32_t tokens[] = {0, 1, 2, 3, 4, 5, 6, 7};
    std::uint64_t together[2] = {};
    block_ids({.tokens = tokens, .block_size = 4}, together);
    EXPECT_EQ(together[0], 9143094415614847814u);
    EXPECT_EQ(together[1], 9510318385840434533u);
    std::uint64_t second[1] = {};
    block_ids({.parent = together[0], .tokens = {tokens + 4, 4}, .block_size = 4}, second);
    EXPECT_EQ(second[0], together[1]);
    std::uint64_t adapter[1] = {};
    block_ids({.tokens = {tokens, 4}, .block_size = 4, .lora = "adapter-a"}, adapter);
    EXPECT_EQ(adapter[0], 6665157333201000639u);
}

} // namespace
} // namespace kvpub
