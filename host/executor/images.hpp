// Entrypoints: what the images of containers stand for on a machine that runs no images: the
// program that an image would start, for containers that give only arguments to it, or nothing.
//
// The configuration's list, and under it the images that Kueue's own sample manifests use. Names
// are compared without tag and digest. Immutable after making; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/config.hpp"

namespace sluice::host {

using Entrypoints = std::map<std::string, std::vector<std::string>, std::less<>>;

/// `configured` wins over what is known already.
Entrypoints entrypoints_of(const std::vector<ImageConfig>& configured);

/// The name alone: `host:5000/a/b:1.2@sha256:…` is `host:5000/a/b`.
std::string_view image_name(std::string_view reference);

/// nullptr when nothing stands for the image.
const std::vector<std::string>* entrypoint_of(const Entrypoints& entrypoints,
                                              std::string_view image);

}  // namespace sluice::host
