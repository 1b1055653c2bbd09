// The ABI tag: one string of everything that makes two C++ builds unfit to share objects.
#pragma once

#include <bits/c++config.h>

#define PATCHBAY_STRINGIFY_(x) #x
#define PATCHBAY_STRINGIFY(x) PATCHBAY_STRINGIFY_(x)

#if defined(__clang__)
#define PATCHBAY_ABI_COMPILER "clang" PATCHBAY_STRINGIFY(__clang_major__)
#else
#define PATCHBAY_ABI_COMPILER "gcc" PATCHBAY_STRINGIFY(__GNUC__)
#endif

// gcc defines a macro for its sanitizers, clang answers a question.
#if defined(__has_feature)
#define PATCHBAY_HAS_FEATURE_(x) __has_feature(x)
#else
#define PATCHBAY_HAS_FEATURE_(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || PATCHBAY_HAS_FEATURE_(address_sanitizer)
#define PATCHBAY_ABI_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__) || PATCHBAY_HAS_FEATURE_(thread_sanitizer)
#define PATCHBAY_ABI_SANITIZER "thread"
#else
#define PATCHBAY_ABI_SANITIZER "none"
#endif

#if defined(_GLIBCXX_DEBUG)
#define PATCHBAY_ABI_DEBUG "1"
#else
#define PATCHBAY_ABI_DEBUG "0"
#endif

/// For example "gcc12-cxx11abi1-c++202002-dbg0-san_none". No Poco type crosses the border, so its version is not part of it.
#define PATCHBAY_ABI_TAG                                                                        \
    PATCHBAY_ABI_COMPILER "-cxx11abi" PATCHBAY_STRINGIFY(_GLIBCXX_USE_CXX11_ABI) "-c++"          \
    PATCHBAY_STRINGIFY(__cplusplus) "-dbg" PATCHBAY_ABI_DEBUG "-san_" PATCHBAY_ABI_SANITIZER
