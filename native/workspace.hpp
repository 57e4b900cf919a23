// Workspaces that outlive a call, so that the next one need not ask the system for fresh pages, which takes as long as a
// good part of decoding.
#pragma once

#include <functional>
#include <memory>

#include "sentence.hpp"

namespace h3n {

struct Watch {
    std::function<void()> look_up;
};

std::unique_ptr<Workspace> take_workspace();
void give_back(std::unique_ptr<Workspace> workspace);

}  // namespace h3n
