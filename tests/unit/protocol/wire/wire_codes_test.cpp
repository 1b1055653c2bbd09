// Proves the tables of codes and languages: names, numbers, and what a Status becomes on the wire.
// How: spot checks of numbers that peers depend on, and a check of every enumerator's name.
// Left to others: which code a processor chooses.
#include "patchbay/protocol/Language.h"
#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/ResponseCode.h"

#include <gtest/gtest.h>

#include <string>

namespace patchbay::protocol {
namespace {

TEST(Codes, HaveTheProtocolsNumbersAndNames) {
    EXPECT_EQ(toString(static_cast<RequestCode>(310)), "SEND_MESSAGE_V2");
    EXPECT_EQ(toString(static_cast<RequestCode>(200050)), "POP_MESSAGE");
    EXPECT_EQ(toString(RequestCode::GetRouteinfoByTopic), "GET_ROUTEINFO_BY_TOPIC");
    EXPECT_EQ(static_cast<int>(RequestCode::BrokerHeartbeat), 904);
    EXPECT_EQ(toString(static_cast<RequestCode>(9999)), "");
    EXPECT_EQ(toString(static_cast<ResponseCode>(-1006)), "RPC_TIME_OUT");
    EXPECT_EQ(static_cast<int>(ResponseCode::PullOffsetMoved), 21);
    EXPECT_EQ(toString(static_cast<ResponseCode>(9999)), "");
}

TEST(Codes, NameAsManyRequestsAsTheProtocolHas) {
    int named = 0;
    for (int code = 0; code < 201000; ++code) {
        if (!toString(static_cast<RequestCode>(code)).empty()) ++named;
    }
    EXPECT_EQ(named, 158);
}

TEST(Codes, TellAPeerWhatAStatusMeans) {
    EXPECT_EQ(responseCodeOf(StatusCode::Ok), ResponseCode::Success);
    EXPECT_EQ(responseCodeOf(StatusCode::InvalidArgument), ResponseCode::SystemError);
    EXPECT_EQ(responseCodeOf(StatusCode::Busy), ResponseCode::SystemBusy);
    EXPECT_EQ(responseCodeOf(StatusCode::Full), ResponseCode::ServiceNotAvailable);
    EXPECT_EQ(responseCodeOf(StatusCode::Denied), ResponseCode::NoPermission);
    for (int code = 1; code <= static_cast<int>(StatusCode::Internal); ++code) {
        EXPECT_NE(responseCodeOf(static_cast<StatusCode>(code)), ResponseCode::Success) << code;
    }
}

TEST(Languages, AreKnownByNameAndNumber) {
    for (int number = 0; number <= 13; ++number) {
        const Language language = languageOf(std::int64_t{number});
        EXPECT_EQ(static_cast<int>(language), number);
        EXPECT_EQ(languageOf(toString(language)), language);
    }
    EXPECT_EQ(languageOf("NODE_JS"), Language::NodeJs);
    EXPECT_EQ(languageOf("KLINGON"), Language::Other);
    EXPECT_EQ(languageOf(std::int64_t{99}), Language::Other);
    EXPECT_EQ(languageOf(std::int64_t{-1}), Language::Other);
}

}  // namespace
}  // namespace patchbay::protocol
