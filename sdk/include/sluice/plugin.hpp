// plugin.hpp: the C++20 layer for authors of plugins. Header-only, over the C interface.
//
//   #include <sluice/plugin.hpp>
//
//   class StableForProduction {
//    public:
//     void filter(const sluice::FilterQuery& query, sluice::FilterAnswer& answer) const {
//       if (query.workload().label("tier") != "production") return;
//       for (std::uint32_t i = 0; i < query.flavors(); ++i)
//         if (query.flavor(i).starts_with("spot")) answer.skip(i, "spot is not for production");
//     }
//   };
//   SLUICE_PLUGIN(StableForProduction, "stable-for-production", "1.0.0")
//
// A class provides the extension points whose member functions it has; a wrong signature does not
// compile. An exception that leaves a hook is a fault of the plugin (docs/plugins/faults.md), never
// the end of the host.
#pragma once

#include "sluice/cpp/capacity.hpp"
#include "sluice/cpp/checks.hpp"
#include "sluice/cpp/context.hpp"
#include "sluice/cpp/entry.hpp"
#include "sluice/cpp/job.hpp"
#include "sluice/cpp/json.hpp"
#include "sluice/cpp/marks.hpp"
#include "sluice/cpp/metadata.hpp"
#include "sluice/cpp/objects.hpp"
#include "sluice/cpp/quantity.hpp"
#include "sluice/cpp/questions.hpp"
#include "sluice/cpp/remotes.hpp"
#include "sluice/cpp/sha1.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/cpp/time.hpp"
#include "sluice/cpp/workload.hpp"
