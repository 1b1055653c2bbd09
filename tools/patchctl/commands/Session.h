// Session: what a command works with: the cluster, the output, files and time.
#pragma once

#include "command/Arguments.h"
#include "output/Output.h"

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/client/AdminClient.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchbay::patchctl {

/// A broker that a command speaks to.
struct Target {
    std::string cluster;
    std::string name;
    std::string address;
    std::int64_t id = 0;
};

/// Made by main() for one command. One thread, but for client(), which is safe from several once it was made.
class Session {
public:
    Session(const Arguments& arguments, Output& output, FileSystem& files, const Clock& clock)
        : arguments_(arguments), output_(output), files_(files), clock_(clock) {}

    [[nodiscard]] Output& out() noexcept { return output_; }
    [[nodiscard]] FileSystem& files() noexcept { return files_; }
    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

    /// Connected with the first question.
    [[nodiscard]] Result<client::AdminClient*> client();
    /// The masters that --broker (an address or a name) or --cluster name, else all.
    [[nodiscard]] Result<std::vector<Target>> masters();
    /// Masters and slaves.
    [[nodiscard]] Result<std::vector<Target>> brokers();
    /// The one broker that --broker names, or the only one there is.
    [[nodiscard]] Result<Target> broker();
    /// A question in the server's own terms; an answer that is not Success becomes a Status.
    [[nodiscard]] Result<protocol::RemotingCommand> ask(const std::string& address, std::int32_t code,
                                                        std::vector<std::pair<std::string, std::string>> fields = {},
                                                        std::string body = {});
    /// Whether --broker or --cluster leave brokers out.
    [[nodiscard]] bool limited() const { return arguments_.has("broker") || arguments_.has("cluster"); }
    /// Names of the brokers that --broker or --cluster choose; empty when neither was given, which is all.
    [[nodiscard]] Result<std::set<std::string>> chosen();
    /// The state of a topic's queues on the chosen brokers; NotFound when none of them has it.
    [[nodiscard]] Result<protocol::TopicStatsTable> topicStats(const std::string& topic);
    /// Groups that consume the topic on the chosen brokers, or have offsets there.
    [[nodiscard]] Result<std::set<std::string>> groupsOf(const std::string& topic);
    /// How far a group is, asked of every master: one that was never on line has no route of its own by which others would find it.
    /// NotFound when it has no offsets there. All its topics when `topic` is empty.
    [[nodiscard]] Result<protocol::ConsumeStats> consumeStats(const std::string& group, const std::string& topic);
    [[nodiscard]] std::chrono::milliseconds timeout() const { return std::chrono::milliseconds(arguments_.number("timeout")); }

    /// Tells the error and says what the process ends with.
    Exit fail(const Status& status);
    /// The same for what is wrong with the command line; nothing was done.
    Exit misused(const Status& status);
    /// Whether a broker is silent; says so. The others are worth showing all the same, and the command ends with Partly.
    [[nodiscard]] bool isSilent(const Target& broker, const Status& status);

private:
    [[nodiscard]] Result<std::vector<Target>> targets(bool slaves);

    const Arguments& arguments_;
    Output& output_;
    FileSystem& files_;
    const Clock& clock_;
    std::optional<client::AdminClient> client_;
};

[[nodiscard]] Exit exitOf(const Status& status) noexcept;

/// "1 message", "2 messages".
[[nodiscard]] std::string counted(std::int64_t number, std::string_view noun);

/// What was done where; the output of commands that change several brokers. One row each; Partly when only some failed.
class Outcomes {
public:
    explicit Outcomes(Session& session) : session_(session) {}
    /// `note` stands behind what print() says was done.
    void add(const Target& target, const Status& status, std::string note = {});
    /// Prints the table and says what the process ends with. `done` stands in the rows that succeeded.
    Exit print(std::string_view done);

private:
    Session& session_;
    struct Row {
        Target target;
        Status status;
        std::string note;
    };
    std::vector<Row> rows_;
};

/// "2026-11-29 17:00:00.515", "2026-11-29T17:00", local; "-10m" before now (s, m, h, d); "now"; or ms since the epoch.
[[nodiscard]] Result<std::int64_t> parseTime(std::string_view text, std::int64_t nowMs);

}  // namespace patchbay::patchctl
