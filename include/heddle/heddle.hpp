// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All of heddle.
#include "heddle/as_device.hpp"
#include "heddle/await.hpp"
#include "heddle/device_context.hpp"
#include "heddle/device_info.hpp"
#include "heddle/device_local.hpp"
#include "heddle/error.hpp"
#include "heddle/extents.hpp"
#include "heddle/future.hpp"
#include "heddle/imap.hpp"
#include "heddle/machine.hpp"
#include "heddle/map.hpp"
#include "heddle/options.hpp"
#include "heddle/route.hpp"
#include "heddle/scheduler.hpp"
#include "heddle/stats.hpp"
#include "heddle/stream.hpp"
#include "heddle/this_device.hpp"
#include "heddle/version.hpp"
#include "heddle/when_all.hpp"
