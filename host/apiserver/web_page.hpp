// The web page: the files of web/, which a browser loads from /ui/ and which then use the API with
// the rights of the browser's user. The files are the same for all users and hold no data, so they
// are served without credentials; whatever they show comes from the API. Pure functions over
// constant texts; any thread.
#pragma once

#include <span>
#include <string_view>

#include "host/apiserver/exchange.hpp"
#include "host/base/embedded_text.hpp"

namespace sluice::host {

/// The files of web/ that browsers load, by path below it.
std::span<const EmbeddedText> web_files();

/// Is this for the page? /ui and what is below, and / when a browser asks for it: clients of the
/// API that accept no text/html find there what they always found.
bool is_page_request(const Request& request);

/// The answer to such a request: a file, the way to it, 304, 404 or 405.
Reply page_reply(const Request& request);

}  // namespace sluice::host
