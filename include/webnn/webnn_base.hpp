/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_base.hpp
 * The part of webnn.hpp with errors, numbers, owning handles, and operands.  Programs include webnn.hpp.
 */
#ifndef WEBNN_WEBNN_BASE_HPP_
#define WEBNN_WEBNN_BASE_HPP_

#include <cstddef>
#include <cstdint>
#include <future>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "webnn/webnn.h"

namespace webnn
{

/** The exception of failed calls: the message of the C API, and its status. */
class Error : public std::runtime_error
{
  public:
    /** Makes an exception of an error's kind and message. */
    Error(WNNStatus status, std::string const &message) : std::runtime_error(message), status_(status)
    {
    }
    /** Returns the kind of the error; name() is the specification's name. */
    WNNStatus status() const noexcept
    {
        return status_;
    }
    /** Returns the specification's name of the error's kind, such as "TypeError".  It has static storage. */
    char const *name() const noexcept
    {
        return wnnStatusGetName(status_);
    }

  private:
    WNNStatus status_;
};

/** Throws an Error with the message of the last call that failed on this thread, unless status is Success. */
inline void check(WNNStatus status)
{
    if (status != WNNStatus_Success)
        throw Error(status, wnnGetLastErrorMessage().data);
}

/** A number of any kind (MLNumber), or none. */
class Number
{
  public:
    /** Makes no number: the option is absent. */
    Number() = default;
    /** Makes a number of any arithmetic type: a double, a signed or an unsigned integer of 64 bits. */
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> Number(T value)
    {
        if constexpr (std::is_floating_point_v<T>)
            number_ = wnnNumber(static_cast<double>(value));
        else if constexpr (std::is_signed_v<T>)
            number_ = wnnNumberInt64(static_cast<std::int64_t>(value));
        else
            number_ = wnnNumberUint64(static_cast<std::uint64_t>(value));
    }
    /** Returns the same for the C API. */
    operator WNNNumber() const
    {
        return number_;
    }

  private:
    WNNNumber number_ = WNN_NUMBER_INIT;
};

/**
 * Owns one reference of an object of the library, or nothing.  Copies refer to the same object, which the last one
 * releases.  get() returns the handle for calls of the C API.
 */
template <class T, void (*AddRef)(T), void (*Release)(T)> class Handle
{
  public:
    /** Owns nothing. */
    Handle() = default;
    /** Takes the caller's reference over. */
    explicit Handle(T taken) noexcept : handle_(taken)
    {
    }
    /** Takes another reference of the same object. */
    Handle(Handle const &other) noexcept : handle_(other.handle_)
    {
        if (handle_)
            AddRef(handle_);
    }
    /** Takes over the other's reference, which owns nothing then. */
    Handle(Handle &&other) noexcept : handle_(std::exchange(other.handle_, nullptr))
    {
    }
    /** Refers to the other's object, and drops its own reference. */
    Handle &operator=(Handle other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    /** Drops the reference. */
    ~Handle()
    {
        if (handle_)
            Release(handle_);
    }
    /** Returns the handle for calls of the C API; it stays this object's, and is NULL if there is none. */
    T get() const noexcept
    {
        return handle_;
    }
    /** Returns whether it owns an object. */
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

  private:
    T handle_ = nullptr;
};

enum class DataType : std::uint32_t;

/** A value of the graph under construction (MLOperand).  It keeps its builder alive. */
class Operand : public Handle<WNNOperand, wnnOperandAddRef, wnnOperandRelease>
{
  public:
    using Handle::Handle;
    /** Returns the data type of its elements. */
    DataType dataType() const
    {
        return static_cast<DataType>(wnnOperandGetDataType(get()));
    }
    /** Returns the size of each dimension, 0 for a named one. */
    std::vector<std::uint32_t> shape() const
    {
        std::uint32_t const *sizes = wnnOperandGetShape(get());
        return std::vector<std::uint32_t>(sizes, sizes + wnnOperandGetRank(get()));
    }
    /** Returns the name of a dimension, or an expression of names, such as "past + sequence"; "" if it is a size. */
    std::string dimensionName(std::size_t index) const
    {
        WNNStringView const name = wnnOperandGetDimensionName(get(), index);
        return name.data ? std::string(name.data, name.length) : std::string();
    }
};

/** Ends computations that take it as an argument (WNNCancellation).  Copies are the same one. */
class Cancellation : public Handle<WNNCancellation, wnnCancellationAddRef, wnnCancellationRelease>
{
  public:
    using Handle::Handle;
    /** Makes a cancellation; Cancellation(nullptr) is none. */
    Cancellation() : Handle(create())
    {
    }
    /** Ends all its computations, permanently; any thread may. */
    void cancel() const
    {
        wnnCancellationCancel(get());
    }
    /** Returns whether it was cancelled. */
    bool isCancelled() const
    {
        return get() && wnnCancellationIsCancelled(get());
    }

  private:
    static WNNCancellation create()
    {
        WNNCancellation cancellation = nullptr;
        webnn::check(wnnCreateCancellation(&cancellation));
        return cancellation;
    }
};

namespace detail
{

/**
 * The type of a container's elements.  Arithmetic types must be the operand's (bool is uint8, std::uint16_t may hold the bits
 * of float16); of char, std::byte and classes only the bytes are counted.
 */
struct Element {
    char const *kind; /**< of its name; NULL: any */
    std::size_t bytes;

    template <class Container> static constexpr Element of(Container const &)
    {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<Container const &>()))>>;
        constexpr bool any = !std::is_arithmetic_v<T> || std::is_same_v<T, char>;
        return Element{any ? nullptr : std::is_floating_point_v<T> ? "float" : std::is_signed_v<T> ? "int" : "uint", sizeof(T)};
    }
    std::string name() const
    {
        return kind + std::to_string(8 * bytes);
    }
    void check(DataType type, char const *call, std::string_view what) const
    {
        char const *wanted = wnnOperandDataTypeGetName(static_cast<WNNOperandDataType>(type));
        std::string_view const stored = wanted; /* as bits, where no type of C++ has the elements */
        if (kind && name() != wanted && !(name() == "uint16" && (stored == "float16" || stored == "bfloat16")) &&
            !(name() == "uint8" && stored.substr(0, 6) == "float8"))
            throw Error(WNNStatus_TypeError, std::string(call) + ": elements of " + name() + " are given for " +
                                                 std::string(what) + ", which has " + wanted);
    }
};

/** Completes a future from a callback of the library. */
template <class T, class Make> void settle(std::promise<T> &promise, WNNStatus status, WNNStringView message, Make make)
{
    if (status == WNNStatus_Success)
        promise.set_value(make());
    else
        promise.set_exception(std::make_exception_ptr(Error(status, std::string(message.data ? message.data : ""))));
}

inline WNNStringView view(std::string_view text)
{
    return WNNStringView{text.data() ? text.data() : "", text.size()};
}

/** A present, empty list must not have a NULL pointer: that would be an absent one. */
template <class T> T const *list(std::vector<T> const &values)
{
    static T const none{};
    return values.empty() ? &none : values.data();
}

template <class To, class From> To const *list(std::vector<From> const &values)
{
    static_assert(sizeof(To) == sizeof(From), "both are enumerations of the same values");
    return reinterpret_cast<To const *>(list(values));
}

inline std::vector<WNNOperand> handles(std::vector<Operand> const &operands)
{
    std::vector<WNNOperand> result;
    result.reserve(operands.size());
    for (Operand const &operand : operands)
        result.push_back(operand.get());
    return result;
}

/** An operand belongs to its builder, so that a reference is taken for the result. */
inline Operand referenced(WNNOperand operand)
{
    wnnOperandAddRef(operand);
    return Operand(operand);
}

/** Throws the builder's error, if there is one, and clears it: the program continues after the exception. */
inline void check_builder(WNNGraphBuilder builder)
{
    WNNStringView message{};
    WNNStatus const status = wnnGraphBuilderGetError(builder, &message);
    if (status == WNNStatus_Success)
        return;
    Error const error(status, message.data);
    wnnGraphBuilderClearError(builder);
    throw error;
}

inline Operand checked(WNNGraphBuilder builder, WNNOperand operand)
{
    check_builder(builder);
    if (!operand)
        throw Error(WNNStatus_TypeError, "there is no builder");
    return referenced(operand);
}

/** Returns the operands that a method has filled in. */
inline std::vector<Operand> operands(std::vector<WNNOperand> const &all)
{
    std::vector<Operand> result;
    for (WNNOperand operand : all)
        if (operand)
            result.push_back(referenced(operand));
    return result;
}

} // namespace detail
} // namespace webnn

#endif
