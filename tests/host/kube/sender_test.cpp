// The sender against a server on loopback.
#include "host/kube/sender.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "host/apiserver/listener.hpp"

namespace sluice::host {
namespace {

using Tcp = boost::asio::ip::tcp;

Kubeconfig config_of(const std::string& address) {
  Kubeconfig out;
  out.server = "http://" + address;
  return out;
}

/// What becomes of one request; "" in its body: it was not answered in time.
ClusterAnswer answer_of_one(const Kubeconfig& config, std::function<bool()> may_send,
                            Duration patience = kSecond * 65) {
  auto target = link_target(config);
  EXPECT_TRUE(target);
  std::promise<ClusterAnswer> promise;
  auto come = promise.get_future();
  RequestSender sender(std::move(*target), config,
                       {std::move(may_send),
                        [&promise](ClusterAnswer answer) { promise.set_value(std::move(answer)); }},
                       {.connections = 1, .patience = patience});
  sender.start();
  sender.send({{.id = 7, .method = "DELETE", .path = "/one"}});
  const bool is_there = come.wait_for(std::chrono::minutes(1)) == std::future_status::ready;
  sender.stop();
  return is_there ? come.get() : ClusterAnswer();
}

TEST(RequestSender, AsksForPermissionWhenItIsConnected) {
  boost::asio::io_context io;
  Tcp::acceptor acceptor(io, Tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0));
  Tcp::socket socket(io);
  bool is_connected = false;
  // Nobody is accepted before it asks: whoever is there then is the sender, connected.
  const auto answer = answer_of_one(
      config_of("127.0.0.1:" + std::to_string(acceptor.local_endpoint().port())), [&] {
        pollfd waiting{acceptor.native_handle(), POLLIN, 0};
        is_connected = ::poll(&waiting, 1, 60'000) == 1;
        if (is_connected) acceptor.accept(socket);
        return false;
      });
  ASSERT_TRUE(is_connected);
  EXPECT_EQ(answer.id, 7U);
  EXPECT_EQ(answer.status, 0);
  EXPECT_FALSE(answer.sent);
  EXPECT_EQ(answer.body, "it may not be sent any more");
  // Not a byte of it went out: the connection was closed.
  char byte = 0;
  boost::system::error_code ended;
  EXPECT_EQ(socket.read_some(boost::asio::buffer(&byte, 1), ended), 0U);
}

TEST(RequestSender, WhatCannotConnectWasNotSent) {
  // A port that somebody has, and where nobody listens.
  boost::asio::io_context io;
  Tcp::socket taken(io);
  taken.open(Tcp::v4());
  taken.bind(Tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0));
  const auto answer = answer_of_one(
      config_of("127.0.0.1:" + std::to_string(taken.local_endpoint().port())), [] { return true; });
  EXPECT_EQ(answer.id, 7U);
  EXPECT_EQ(answer.status, 0);
  EXPECT_FALSE(answer.sent);
  EXPECT_NE(answer.body.find("cannot connect to 127.0.0.1"), std::string::npos) << answer.body;
}

TEST(RequestSender, AnswersWhatWasSaid) {
  ListenerOptions options;
  options.address = "127.0.0.1:0";
  auto listener = Listener::open(options, [](const std::shared_ptr<Exchange>& exchange) {
    exchange->reply({200,
                     "application/json",
                     std::make_shared<const std::string>(exchange->request().method),
                     {}});
  });
  ASSERT_TRUE(listener);
  const auto answer = answer_of_one(config_of((*listener)->address()), [] { return true; });
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.sent);
  EXPECT_EQ(answer.body, "DELETE");
  (*listener)->stop(0);
}

TEST(RequestSender, AnAnswerThatDoesNotBeginIsGivenUp) {
  boost::asio::io_context io;
  Tcp::acceptor acceptor(io, Tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0));
  const auto answer =  // the connection stands, and nobody reads it
      answer_of_one(
          config_of("127.0.0.1:" + std::to_string(acceptor.local_endpoint().port())),
          [] { return true; }, kMillisecond);
  EXPECT_EQ(answer.id, 7U);
  EXPECT_EQ(answer.status, 0);
  EXPECT_TRUE(answer.sent);
}

TEST(RequestSender, AConnectionThatTheServerHasEndedMeanwhileIsNotUsedAgain) {
  boost::asio::io_context io;
  Tcp::acceptor acceptor(io, Tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0));
  // Keeps a connection by its words, and closes it.
  const auto serve_one = [&] {
    Tcp::socket socket(io);
    acceptor.accept(socket);
    std::string request;
    boost::asio::read_until(socket, boost::asio::dynamic_buffer(request), "\r\n\r\n");
    boost::asio::write(
        socket,
        boost::asio::buffer(std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")));
  };
  const Kubeconfig config =
      config_of("127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()));
  auto target = link_target(config);
  ASSERT_TRUE(target);
  std::promise<int> first, second;
  RequestSender sender(std::move(*target), config,
                       {[] { return true; },
                        [&](const ClusterAnswer& answer) {
                          (answer.id == 1 ? first : second).set_value(answer.status);
                        }},
                       {.connections = 1});
  sender.start();
  for (std::promise<int>* each : {&first, &second}) {
    sender.send({{.id = each == &first ? 1U : 2U, .path = "/"}});
    serve_one();
    auto status = each->get_future();
    ASSERT_EQ(status.wait_for(std::chrono::minutes(1)), std::future_status::ready);
    EXPECT_EQ(status.get(), 200);
  }
  sender.stop();
}

}  // namespace
}  // namespace sluice::host
