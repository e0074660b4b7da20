/// Replays an op-log through libkvindex's C ABI; README.md says how and what comes out.
///
///   kvindex-replay NAME OPLOG time
///   kvindex-replay NAME OPLOG check ANSWERS
///
/// Exit code: 0 done and right, 1 an answer is wrong, 2 bad arguments or files, or the index failed.
#include "modes.hpp"

#include <cstdio>
#include <exception>
#include <optional>

namespace {

using namespace kvindex::replay;

constexpr int right = 0;
constexpr int wrong = 1;
constexpr int unusable = 2;

std::optional<variant> variant_of(const std::string& name) {
    if (name == "kvindex-inflight") {
        return variant{.name = name, .batch = true, .form = query_form::dense, .inflight = true};
    }
    for (const bool batch : {false, true}) {
        for (const query_form form : {query_form::dense, query_form::hits}) {
            std::string known = "kvindex";
            known += batch ? "-batch" : "";
            known += form == query_form::hits ? "-hits" : "";
            if (name == known) {
                return variant{.name = name, .batch = batch, .form = form, .inflight = false};
            }
        }
    }
    return std::nullopt;
}

int usage(const std::string& what) {
    std::fprintf(stderr,
                 "kvindex-replay: %s\n"
                 "usage: kvindex-replay NAME OPLOG time\n"
                 "       kvindex-replay NAME OPLOG check ANSWERS\n"
                 "NAME: kvindex | kvindex-batch, either with -hits behind it | kvindex-inflight\n",
                 what.c_str());
    return unusable;
}

int run(const variant& how, const std::string& log_path, const std::optional<std::string>& answers_path) {
    const oplog log(log_path);
    const std::vector<std::uint32_t> slots = [&] {
        const subject probe(log.header().workers, how.form);
        return std::vector<std::uint32_t>(probe.slots().begin(), probe.slots().end());
    }();
    const workload load(log, slots, how.inflight);
    const replay_input in{how, log, load, slots};
    if (!answers_path) {
        time_mode(in);
        return right;
    }
    return check_mode(in, read_answers(*answers_path, log)) ? right : wrong;
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
    if (arguments.size() < 3) {
        return usage("too few arguments");
    }
    const std::optional<variant> how = variant_of(arguments[0]);
    if (!how) {
        return usage("unknown NAME " + arguments[0]);
    }
    const bool check = arguments[2] == "check";
    if (!check && arguments[2] != "time") {
        return usage("unknown mode " + arguments[2]);
    }
    if (arguments.size() != (check ? 4u : 3u)) {
        return usage(check ? "check needs one ANSWERS file" : "too many arguments");
    }
    try {
        return run(*how, arguments[1], check ? std::optional(arguments[3]) : std::nullopt);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "kvindex-replay: %s\n", e.what());
        return unusable;
    }
}
