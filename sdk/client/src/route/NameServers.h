// NameServers: which one is asked, and what happens when it does not answer.
#pragma once

#include "remoting/Asker.h"
#include "runtime/LoopTimer.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

struct ClientOptions;

/// "a:1;b:2,c:3" as a list; blanks and empty parts are dropped.
[[nodiscard]] std::vector<std::string> splitAddresses(std::string_view text);

/// GET of `url`, 3 s at most; blocks.
[[nodiscard]] Result<std::string> fetchText(const std::string& url);

/// Stays with one server while it answers; on a failure the next one is asked within the same deadline, which is divided among those
/// that are left. Without a configured list it is fetched over HTTP first, and again every two minutes. Loop thread only.
class NameServers {
public:
    NameServers(Asker& asker, const ClientOptions& options, std::size_t firstIndex);
    ~NameServers();

    void ask(protocol::RemotingCommand command, MonotonicTime deadline, AnswerDone done);
    [[nodiscard]] const std::vector<std::string>& list() const noexcept { return list_; }
    /// The next question goes to the next one: this one knows less than it did.
    void turn() noexcept { ++current_; }
    [[nodiscard]] bool contains(std::string_view address) const noexcept;

private:
    struct Question;
    void attempt(const std::shared_ptr<Question>& question);
    void fetch();
    void fetched(const Result<std::string>& text);

    Asker& asker_;
    const std::string url_;
    std::vector<std::string> list_;
    std::size_t current_;
    std::deque<std::shared_ptr<Question>> waiting_;  // for the list
    bool fetching_ = false;
    LoopTimer refetch_;
    std::shared_ptr<NameServers*> alive_;  // null once destroyed; held by a fetch under way
};

}  // namespace patchbay::client
