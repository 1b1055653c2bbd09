// Interceptor: code that sees requests of many codes at fixed points of their way.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/plugin/Request.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::plugin {

/// In this order. Received … Trace run before the processor; Responding before an answer is encoded; Completed once for every
/// request, answered or not. Each phase asks the interceptors registered when it is reached: a request that outlives a reload meets the
/// old ones in Received and the new ones in Completed, because remembering them would make every reload wait for held requests.
/// To refuse some requests use Limit. Authorize is for those who decide on every request of a listener: as soon as one interceptor is
/// there, what none of them answers Continue to is denied with NO_PERMISSION, also the operators' own requests.
enum class Phase : std::uint8_t { Received, Authenticate, Authorize, Limit, Trace, Responding, Completed };

struct Verdict {
    /// NoOpinion lets the others decide, which outside Authorize is to let pass; Continue is the permission in Authorize and as NoOpinion
    /// elsewhere; Answer ends the request with `answer`, Close with its connection. In Responding and Completed verdicts are not looked at.
    enum class Kind : std::uint8_t { NoOpinion, Continue, Answer, Close };
    Kind kind = Kind::NoOpinion;
    std::optional<Response> answer{};
};

/// Facts about a request that interceptors share. `core.command` is never null here; in Completed only its code and the peer
/// are certain.
struct Interception {
    Phase phase;
    const RequestCore& core;
    Response* response = nullptr;   ///< in Responding: may be changed
};

/// Owned by its plugin; outlives its registration. Called on any lane, several at once; must not block.
class Interceptor {
public:
    virtual ~Interceptor();
    virtual Verdict intercept(const Interception& at) = 0;
};

/// Where a plugin adds interceptors, in init(). Inside a phase the lower order runs first; ties by plugin name.
class Interceptors {
public:
    virtual ~Interceptors();
    virtual Status add(std::string_view listener, Phase phase, std::int32_t order, Interceptor& interceptor) = 0;
};

}  // namespace patchbay::plugin
