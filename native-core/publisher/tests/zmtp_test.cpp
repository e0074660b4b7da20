#include "publisher/zmtp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kvpub::zmtp {
namespace {

bytes of(std::string_view text) {
    return {text.begin(), text.end()};
}

bytes conversation() {
    bytes out = hello("SUB");
    put_frame(out, of("\x01kv"), false);
    put_frame(out, bytes(), true);
    put_frame(out, bytes(300, 7), false);
    return out;
}

TEST(zmtp, is_read_in_any_pieces) {
    const bytes all = conversation();
    for (std::size_t piece = 1; piece <= all.size(); piece++) {
        reader r;
        std::vector<unit> units;
        for (std::size_t at = 0; at < all.size(); at += piece) {
            ASSERT_TRUE(r.feed(std::span(all).subspan(at, std::min(piece, all.size() - at)), units));
        }
        ASSERT_EQ(units.size(), 3u) << "pieces of " << piece;
        EXPECT_EQ(peer_type(units[0]), "SUB");
        EXPECT_EQ(units[1].frames, (std::vector<bytes>{of("\x01kv")}));
        EXPECT_EQ(units[2].frames, (std::vector<bytes>{bytes(), bytes(300, 7)}));
    }
}

TEST(zmtp, another_protocol_is_refused_at_its_first_wrong_byte) {
    const auto refused = [](bytes start) {
        reader r;
        std::vector<unit> units;
        return !r.feed(start, units);
    };
    EXPECT_TRUE(refused(of("GET / HTTP/1.1")));
    bytes old = hello("SUB");
    old[10] = 1;
    EXPECT_TRUE(refused(old));
    bytes curve = hello("SUB");
    std::copy_n("CURVE", 5, curve.begin() + 12);
    EXPECT_TRUE(refused(curve));
}

TEST(zmtp, no_announced_size_takes_memory) {
    for (const bytes& tail : {bytes{2, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                              bytes{2, 0, 0, 0, 0, 0, 1, 0, 0}, bytes{0x80, 1, 1}, bytes{5, 1, 1}}) {
        reader r;
        std::vector<unit> units;
        bytes all = hello("SUB");
        all.insert(all.end(), tail.begin(), tail.end());
        EXPECT_FALSE(r.feed(all, units));
    }
    reader frames;
    std::vector<unit> units;
    ASSERT_TRUE(frames.feed(hello("SUB"), units));
    bytes many;
    for (int i = 0; i < 17; i++) {
        put_frame(many, bytes(1, 1), true);
    }
    EXPECT_FALSE(frames.feed(many, units)) << "a message without end";
}

TEST(zmtp, a_ping_is_answered_with_its_context) {
    EXPECT_EQ(pong(of(std::string_view("\0\x0a"
                                       "abc",
                                       5))),
              of(std::string_view("\x04\x08\x04PONGabc", 10)));
    EXPECT_TRUE(pong(of("x")).empty());
    EXPECT_TRUE(pong(bytes(19, 1)).empty());
}

TEST(zmtp, any_bytes_are_survived) {
    const std::uint32_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const bytes good = conversation();
    for (int round = 0; round < 20000; round++) {
        bytes all = good;
        for (std::size_t flips = 1 + random() % 4; flips-- > 0;) {
            all[64 + random() % (all.size() - 64)] = static_cast<std::uint8_t>(random());
        }
        reader r;
        std::vector<unit> units;
        r.feed(all, units);
        for (const unit& u : units) {
            ASSERT_FALSE(u.frames.empty());
            static_cast<void>(peer_type(u));
        }
    }
}

} // namespace
} // namespace kvpub::zmtp
