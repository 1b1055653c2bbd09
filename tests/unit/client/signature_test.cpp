// Proved: requests are signed as brokers with access control compute it.
// How: the values of RFC 2202 for HMAC-SHA1, and the order of fields.
// Left to others: a broker that checks it.
#include "remoting/FrameBuilder.h"
#include "remoting/Signature.h"

#include <gtest/gtest.h>

namespace patchbay::client {
namespace {

TEST(ASignature, IsHmacSha1InBase64) {
    protocol::FieldList fields;
    fields.add("x", "what do ya want ");
    // RFC 2202, case 2: effcdf6ae5eb2fa2d27416d5f184df9c259a7c79.
    EXPECT_EQ(signatureOf(fields, "for nothing?", "Jefe"), "7/zfauXrL6LSdBbV8YTfnCWafHk=");
}

TEST(ASignature, TakesValuesInTheOrderOfTheirKeys) {
    protocol::FieldList forwards;
    forwards.add("a", "1");
    forwards.add("b", "2");
    protocol::FieldList backwards;
    backwards.add("b", "2");
    backwards.add("a", "1");
    EXPECT_EQ(signatureOf(forwards, "body", "key"), signatureOf(backwards, "body", "key"));
    EXPECT_NE(signatureOf(forwards, "body", "key"), signatureOf(forwards, "bodY", "key"));
}

TEST(ASignature, IsPartOfEveryFrameWhenThereAreKeys) {
    FrameBuilder builder({.accessKey = "me", .secretKey = "secret", .securityToken = "token"}, protocol::Language::Cpp);
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::HeartBeat);
    const auto frame = builder.request(command);
    ASSERT_TRUE(frame);
    const auto decoded = protocol::RemotingCommand::decode(frame->bytes.view());
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->find("AccessKey"), "me");
    EXPECT_EQ(decoded->find("SecurityToken"), "token");
    protocol::FieldList signedFields;
    signedFields.add("AccessKey", "me");
    signedFields.add("SecurityToken", "token");
    EXPECT_EQ(decoded->find("Signature"), signatureOf(signedFields, "", "secret"));
    FrameBuilder open({}, protocol::Language::Cpp);
    EXPECT_FALSE(protocol::RemotingCommand::decode(open.request(command)->bytes.view())->find("Signature"));
}

}  // namespace
}  // namespace patchbay::client
