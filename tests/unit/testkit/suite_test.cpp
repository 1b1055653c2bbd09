// Proved: the storage contract suite finds stores that are broken in one place each, and passes the same stores unbroken.
// How: a program with such stores (suite/) is run, one case at a time, and has to fail.
// Left to others: the suite on real stores (tests/contract).
#include <array>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <utility>
#include <vector>

namespace {

struct Outcome {
    int exitCode;  // -1: it did not end by itself
    std::string output;
};

Outcome run(const std::string& arguments) {
    const std::string command = PATCHBAY_BROKEN_STORES " " + arguments + " 2>&1";
    Outcome outcome{-1, {}};
    FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return outcome;
    std::array<char, 4096> piece;
    while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), pipe)) outcome.output.append(piece.data(), got);
    const int status = ::pclose(pipe);
    outcome.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

Outcome runCase(const std::string& store, const std::string& name) {
    return run("--gtest_filter=" + store + "/MessageStoreContract." + name + "/0");
}

struct Row {
    const char* bug;    // a store of suite/
    const char* found;  // the case that must find it
};

// A hole in the suite that was closed has a line here, so that it stays closed.
constexpr Row kOverMemory[] = {
    {"TellsRemovedListeners", "ListenersStartWhereTheyAreAddedAndEndWhereTheyAreRemoved"},
    {"RemovesListenersWithoutWaiting", "RemoveListenerWaitsForCallsUnderWay"},
    {"TellsBeforeItCanBeRead", "AReaderThatAListenerWakesFindsTheMessage"},
    {"TellsWrongPhysicalOffsets", "ListenersAreToldWhatTheAnswerSays"},
    {"TellsWrongTagsCodes", "ListenersAreToldWhatTheAnswerSays"},
    {"TellsWrongTimes", "ListenersAreToldWhatTheAnswerSays"},
    {"TellsWrongSizes", "ListenersAreToldWhatTheAnswerSays"},
    {"AnswersTwice", "EveryBatchIsAnsweredExactlyOnce"},
    {"NeverTrims", "ATrimFreesWhatItPromisesAndAKillDoesNotBringItBack"},
    {"TrimsBackwards", "ATrimFreesWhatItPromisesAndAKillDoesNotBringItBack"},
    {"TrimsWhatComesLater", "ATrimBeyondTheEndTakesNothingThatComesLater"},
    {"FindsKeysOfDeletedTopics", "KeysOfWhatWasRemovedAreNotFound"},
    {"KnowsRefusedTopics", "TheFirstMessageOfATopicMayBeRefusedAndSentAgain"},
    {"MixesUpQueues", "OneBatchMaySpanQueuesAndAnEmptyOneIsDone"},
    {"QueuesHalfMessages", "HalfMessagesAndRollBacksAreStoredButStandInNoQueue"},
    {"SkipsWhatAFilterDidNotReach", "AFilterFindsWhatIsFarAway"},
    {"FindsTimesBelowTheMinimum", "TrimMovesTheMinimumAndKeepsTheRest"},
    {"RefusesTimesThatGoBack", "TimeSearchStaysInTheQueueWhenTheClockGoesBack"},
};

constexpr Row kOverToy[] = {
    {"FlushesNothing", "FlushMakesEverythingBeforeItDurable"},
    {"FlushesInMemory", "APowerCutLeavesWhatWasFlushed"},
    {"SwallowsFailedSyncs", "AFlushThatCannotSyncSaysSo"},
    {"SyncsNothing", "UnderSynchronousFlushAPowerCutLosesNothingAcknowledged"},
    {"ForgetsTrimsWhenKilled", "ATrimFreesWhatItPromisesAndAKillDoesNotBringItBack"},
    {"ServesFlippedBits", "FlippedBitsInABodyAreNotServed"},
    {"TellsBeforeItIsDurable", "UnderSynchronousFlushNobodyIsToldBeforeItIsDurable"},
    {"ForgetsWhatWaitsAtTheEnd", "ACloseAnswersWhatIsUnderWay"},
    {"TakesReadErrorsForTheEnd", "AReadErrorIsNeverTakenForTheEndOrForContent"},
    {"PassesReadErrorsOver", "AReadErrorIsNeverTakenForTheEndOrForContent"},
    {"DeniesWhatItCannotRead", "AReadErrorIsNeverTakenForTheEndOrForContent"},
    {"SplitsGroups", "TruncatedFilesGiveACleanPrefixOrARefusal"},
    {"DropsAllWhenTorn", "TruncatedFilesGiveACleanPrefixOrARefusal"},
    {"RefusesWhatIsTorn", "TruncatedFilesGiveACleanPrefixOrARefusal"},
    {"WritesOneByOne", "AWriteThatFailsMidwayLeavesWholeGroupsOnly"},
    {"AnswersWithATimeout", "WhoDoesNotWaitForTheDiskIsAnsweredAllTheSame"},
    {"CopiesOldMessages", "CapabilitiesAreWhatTheyClaim"},
    {"ForgetsNumbersOfDeletedTopics", "PhysicalOffsetsGrowThoughTheirMessagesAreGone"},
};

class ContractSuite : public testing::TestWithParam<std::pair<Row, const char*>> {};

TEST_P(ContractSuite, FindsTheBrokenStoreAndPassesTheSoundOne) {
    const auto& [row, sound] = GetParam();
    const Outcome broken = runCase(row.bug, row.found);
    EXPECT_EQ(broken.exitCode, 1) << "it did not find " << row.bug << "\n" << broken.output;
    EXPECT_NE(broken.output.find("Failure"), std::string::npos) << broken.output;
    const Outcome same = runCase(sound, row.found);
    EXPECT_EQ(same.exitCode, 0) << same.output;
    EXPECT_NE(same.output.find("[  PASSED  ] 1 test"), std::string::npos) << "there is no such case, or it is skipped\n" << same.output;
}

// Who writes a store reads docs/store-contract.md: it has a line for each case, and none that there is no case for.
TEST(ContractSuitePage, HasEveryCase) {
    const Outcome listed = run("--gtest_list_tests --gtest_filter=SoundOverToy/*");
    ASSERT_EQ(listed.exitCode, 0) << listed.output;
    std::set<std::string> cases;
    std::istringstream lines(listed.output);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  ")) cases.insert(line.substr(2, line.find('/') - 2));
    }
    std::ifstream page(PATCHBAY_SOURCE_DIR "/docs/store-contract.md");
    std::set<std::string> described;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("| `") && line.find('`', 3) != std::string::npos) described.insert(line.substr(3, line.find('`', 3) - 3));
    }
    EXPECT_GE(cases.size(), 50U);
    for (const auto& name : cases) EXPECT_TRUE(described.contains(name)) << name << " has no line in docs/store-contract.md";
    for (const auto& name : described) {
        const bool isCase = name.front() >= 'A' && name.front() <= 'Z' && name.find("Kill") == std::string::npos && name != "StoreTraits";
        EXPECT_TRUE(!isCase || cases.contains(name)) << "docs/store-contract.md describes " << name << ", which there is not";
    }
}

std::vector<std::pair<Row, const char*>> rows() {
    std::vector<std::pair<Row, const char*>> all;
    for (const Row& row : kOverMemory) all.emplace_back(row, "SoundOverMemory");
    for (const Row& row : kOverToy) all.emplace_back(row, "SoundOverToy");
    return all;
}

INSTANTIATE_TEST_SUITE_P(Broken, ContractSuite, testing::ValuesIn(rows()), [](const auto& row) { return std::string(row.param.first.bug); });

}  // namespace
