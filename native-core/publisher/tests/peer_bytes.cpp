/// Fuzz body: any bytes from a router that has connected, in pieces, while batches are sent to it and asked
/// for.
///
/// byte 0: which socket; byte 1: size of the pieces; the rest comes from the peer, behind a greeting that holds
/// unless the top bit of byte 0 is set.
#include "publisher/peer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace kvpub;
    if (size < 2) {
        return 0;
    }
    static const std::string topic = "kv";
    batch_log log({.batches = 4, .bytes = 1 << 16, .events = 1}, 0, [] { return 1.5; });
    const auto add = [&] { log.append([](bytes& out) { put_cleared(out); }); };
    for (int i = 0; i < 6; i++) {
        add();
    }
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        std::abort();
    }
    const descriptor other(ends[1]);
    const bool live = (data[0] & 1) == 0;
    peer subject(descriptor{ends[0]}, live ? role::publish : role::replay, log, topic, 2);
    bytes input = (data[0] & 0x80) != 0 ? bytes() : zmtp::hello(live ? "SUB" : "DEALER");
    input.insert(input.end(), data + 2, data + size);
    const std::size_t piece = 1 + data[1];
    traffic counts;
    for (std::size_t at = 0; at < input.size(); at += piece) {
        const std::size_t n = std::min(piece, input.size() - at);
        if (send(other.get(), input.data() + at, n, MSG_NOSIGNAL) != static_cast<ssize_t>(n)) {
            break;
        }
        if (!subject.receive() || !subject.pump(counts)) {
            break;
        }
        add();
        std::array<std::uint8_t, 65536> sent;
        while (recv(other.get(), sent.data(), sent.size(), 0) > 0) {
        }
    }
    return 0;
}
