/// What ends a replay: unusable input or an index that fails. main() prints it and exits with 2.
#pragma once

#include <stdexcept>

namespace kvindex::replay {

/// The text names the file or call and says what is wrong with it.
class replay_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace kvindex::replay
