// SPDX-License-Identifier: Apache-2.0
// src/device/taking.cpp, resting.cpp, sleepers.hpp, hand.hpp and device_group.cpp (dispatch, wake_for_shared): items
// that any device may take lie in a queue that all share, or in the hand of a device that took some more than it can
// start, and devices sleep, each in its own inbox. Whoever puts such an item somewhere looks afterwards who has lain
// down, and calls one, unless enough are on their way that have been called before; a device says in its inbox that it
// parks, then lies down, then looks at the shared queue and at the hands a last time, and again after it got up.
// Whatever the order: no item is left lying while a device that could take it sleeps for good, and all sleepers leave
// when the scheduler stops.
//
// An item for any device ends once as many of them have started as there are devices to run them, and one that is
// pinned to a device once all of them have: so an item is left lying for ever that is late because the device which
// was woken for it does something else first. Inboxes are as inbox.pml proves them to be: a push, a take and a poke
// are one step each, and whoever ends a park wakes. They count their items, instead of holding them. The items are so
// few that one of the shared ones is as much as a device takes at one time.
//
// scripts/model.sh runs it with each of these, and finds nothing wrong:
// holds: -DDEVICES=2 -DPUSHERS=2
// holds: -DDEVICES=2 -DPUSHERS=1 -DBATCH=2 -DPINNED=1 -DRECONSIDERING
// holds: -DDEVICES=2 -DPUSHERS=1 -DDISABLING
// holds at length: -DDEVICES=2 -DPUSHERS=2 -DPINNED=1 -DRECONSIDERING
// holds at length: -DDEVICES=2 -DPUSHERS=1 -DPINNED=1 -DDISABLING
// holds at length: -DDEVICES=2 -DPUSHERS=2 -DENOUGH=2
// holds at length: -DDEVICES=3 -DPUSHERS=1 -DBATCH=2 -DPINNED=1
// and with each of these, where something is:
// breaks: NO_LAST_LOOK        a device sleeps without a last look at the shared queue
// breaks: NO_LOOK_AT_HANDS    a device sleeps without a last look at the hands of the others
// breaks: LIES_DOWN_LATE      a device looks first and lies down then, as may come of bits that are not seq_cst
// breaks: LIES_DOWN_EARLY     a device lies down before it has said in its inbox that it parks
// breaks: GETS_UP_LATE        a device that was called runs an item before it says that it is up
// breaks: WAKE_DECIDED_EARLY  who pushes looks who parks before the push
// breaks: NO_PASSING_ON       a device that has taken an item wakes nobody for what is left
// breaks: HANDS_NOT_PASSED_ON it does for what is left in the queue and in its own hand, but not in another's
// breaks: TAKEN_BACK_BLINDLY  a device that does not sleep after all empties its inbox without looking
// breaks: STOPPED_LATE        the sleepers are poked before they can see that the scheduler stops
// breaks: DISABLED_QUIETLY    a device is disabled and nobody is woken in its stead
// breaks: CALLED_IN_VAIN      a device that was called, and disabled then, wakes nobody in its stead

#ifndef DEVICES  // where the bugs show
#ifdef GETS_UP_LATE
#define PUSHERS 2
#else
#define PUSHERS 1
#endif
#ifdef HANDS_NOT_PASSED_ON
#define DEVICES 3
#define BATCH 2
#else
#define DEVICES 2
#endif
#if defined(DISABLED_QUIETLY) || defined(CALLED_IN_VAIN)
#define DISABLING
#else
#define PINNED 1
#endif
#endif
#ifndef ENOUGH
#define ENOUGH 1
#endif
#ifndef PINNED
#define PINNED 0  // devices that get an item of their own
#endif
#ifndef BATCH
#define BATCH 1
#endif
#define SHARED (PUSHERS * BATCH)
#ifdef DISABLING
#define RUNNERS (DEVICES - 1)
#else
#define RUNNERS (DEVICES - PINNED)
#endif
#define AT_ONCE (SHARED < RUNNERS -> SHARED : RUNNERS)

// The shared queue: what has arrived, and what has been sorted into its lists, under its lock.
byte arrived = 0;
byte sorted = 0;
byte sorted_count = 0;  // what those without the lock see
bool locked = false;

// The word of each device's inbox: more is the number of its items, and MORE.
#define EMPTY 0
#define PARKED 1
#define MORE 1
byte inbox[DEVICES] = EMPTY;
#ifdef DISABLING
bool enabled_of[DEVICES] = true;
#define IS_ENABLED(device) enabled_of[device]
#else
#define IS_ENABLED(device) true
#endif

// What each device has at hand that is for anyone, and whether it says so.
byte at_hand[DEVICES] = 0;
bool offers[DEVICES] = false;

// device_group::resting.
bool lies[DEVICES] = false;
short on_their_way = 0;
#define OFFERS(device) (offers[device] && at_hand[device] > 0)
#if DEVICES == 2
#define SOMEONE_LIES (lies[0] || lies[1])
#define SOMEONE_OFFERS (OFFERS(0) || OFFERS(1))
#else
#define SOMEONE_LIES (lies[0] || lies[1] || lies[2])
#define SOMEONE_OFFERS (OFFERS(0) || OFFERS(1) || OFFERS(2))
#endif

bool stopping = false;
byte started = 0;  // items for any device that one of them has taken
byte ended = 0;    // items of both kinds

inline poke(device) {
  if
  :: d_step { inbox[device] == PARKED -> inbox[device] = EMPTY }
  :: inbox[device] != PARKED
  fi
}

#ifdef WAKE_DECIDED_EARLY
#define LOOK_WHO_LIES before_push
#else
#define LOOK_WHO_LIES SOMEONE_LIES
#endif

// Calls a device after the other, as sleepers::call does.
inline wake_for_shared(count) {
  to_wake = count;
  do
  :: atomic { to_wake == 0 -> at = 0; break }
  :: atomic { to_wake > 0 && !LOOK_WHO_LIES -> to_wake = 0 }
  :: to_wake > 0 && LOOK_WHO_LIES ->
     if
     :: atomic { on_their_way >= ENOUGH -> to_wake = 0 }
     :: atomic { on_their_way < ENOUGH -> select(at : 0 .. DEVICES - 1) };
        if
        :: d_step { lies[at] -> lies[at] = false; to_wake-- };
           on_their_way++;
           poke(at)
        :: !lies[at]
#ifdef WAKE_DECIDED_EARLY
           -> to_wake = 0
#endif
        fi
     fi
  od
}

proctype pusher() {
  byte at, to_wake;
#ifdef WAKE_DECIDED_EARLY
  bool before_push = SOMEONE_LIES;
#endif
  arrived = arrived + BATCH;
  wake_for_shared(BATCH)
}

// One item for one device alone.
proctype pinned_pusher(byte device) {
  d_step { inbox[device] = (inbox[device] <= PARKED -> MORE : inbox[device]) + 1 }
}

// ready_queue::maybe_nonempty of the shared queue: two loads.
inline look_at_shared() {
  if
  :: atomic { sorted_count > 0 -> seen = true }
  :: sorted_count == 0 ->
     if
     :: atomic { arrived > 0 -> seen = true }
     :: atomic { arrived == 0 -> seen = false }
     fi
  fi
}

// device_thread::who_offers; DEVICES if nobody does.
inline look_who_offers() {
  if
  :: IS_ENABLED(me) ->
     other = 0;
     do
     :: other < DEVICES ->
        if
        :: other == me -> other++
        :: other != me ->
           if
           :: offers[other] && at_hand[other] > 0 -> break
           :: atomic { !(offers[other] && at_hand[other] > 0) -> other++ }
           fi
        fi
     :: other == DEVICES -> break
     od
  :: atomic { !IS_ENABLED(me) -> other = DEVICES }
  fi
}

// device_thread::put_back_hand.
inline put_back_hand() {
  d_step { now = at_hand[me]; at_hand[me] = 0; mine = mine + own_at_hand; own_at_hand = 0 };
  offers[me] = false;
  if
  :: now > 0 ->
     d_step { !locked -> sorted = sorted + now; sorted_count = sorted_count + now; now = 0 };
     wake_for_shared(1)
  :: now == 0
  fi
}

proctype device(byte me) {
  byte mine;         // sorted, for this device alone
  byte own_at_hand;  // the same, at hand
  byte at, to_wake, now, awaited, other;
  bool seen, for_anyone, may_be_called, called;
#ifdef WAKE_DECIDED_EARLY
  bool before_push = true;
#endif

take:
  if
  :: d_step { at_hand[me] > 0 -> at_hand[me]--; started++; awaited = AT_ONCE };
     goto run_it
  :: d_step { own_at_hand > 0 -> own_at_hand--; awaited = SHARED };
     goto run_it
#ifdef RECONSIDERING
  :: at_hand[me] + own_at_hand > 0 -> put_back_hand(); goto take
#endif
  :: at_hand[me] + own_at_hand == 0
  fi;

  // take_from_queues
  if
  :: IS_ENABLED(me) -> look_at_shared()
  :: atomic { !IS_ENABLED(me) -> seen = false }
  fi;
  offers[me] = false;
  if
  :: d_step { inbox[me] > PARKED -> mine = mine + inbox[me] - MORE; inbox[me] = EMPTY }
  :: inbox[me] <= PARKED
  fi;
  if
  :: seen
  :: d_step { !seen && mine > 0 -> mine--; awaited = SHARED };
     goto pass_on
  :: !seen && mine == 0 -> goto from_others
  fi;
  d_step { !locked -> locked = true; now = arrived; arrived = 0 };
  // Here the items are neither among the arrivals nor counted.
  d_step { sorted = sorted + now; sorted_count = sorted_count + now; now = 0 };
  if  // What comes first is a matter of priorities, and how many of what is left go to hand, of time.
  :: d_step { sorted > 0 -> sorted--; sorted_count--; started++; awaited = AT_ONCE; locked = false }
  :: d_step { sorted > 0 && mine > 0 -> sorted--; sorted_count--; started++; awaited = AT_ONCE };
     d_step { mine--; own_at_hand++; for_anyone = true; locked = false }
  :: d_step { mine > 0 -> mine--; awaited = SHARED; locked = false }
  :: d_step { sorted > 0 && mine > 0 -> mine--; awaited = SHARED; sorted--; sorted_count-- };
     d_step { at_hand[me]++; for_anyone = true; locked = false }
  :: d_step { sorted == 0 && mine == 0 -> locked = false };
     goto from_others
  fi;
  if
  :: for_anyone ->
     offers[me] = true;
     if
     :: IS_ENABLED(me)
     :: !IS_ENABLED(me) -> put_back_hand()
     fi
  :: !for_anyone
  fi;
  goto pass_on;

from_others:
  look_who_offers();
  if
  :: other < DEVICES ->
     if
     :: d_step { at_hand[other] > 0 -> at_hand[other]--; started++; awaited = AT_ONCE }
     :: at_hand[other] == 0 -> goto nothing
     fi
  :: other == DEVICES -> goto nothing
  fi;

pass_on:
#ifndef NO_PASSING_ON
  look_at_shared();
#ifndef HANDS_NOT_PASSED_ON
  if
  :: !seen && !for_anyone ->
     look_who_offers();
     for_anyone = other < DEVICES
  :: seen || for_anyone
  fi;
#endif
  if
  :: seen || for_anyone -> wake_for_shared(1)
  :: !seen && !for_anyone
  fi;
#endif

run_it:
  atomic { started >= awaited -> ended++; awaited = 0; other = 0; seen = false; for_anyone = false };
#ifdef GETS_UP_LATE
  d_step { on_their_way = on_their_way - called; called = false };
#endif
  goto take;

nothing:
#ifdef GETS_UP_LATE
  atomic { on_their_way = on_their_way - called; called = false };
#endif
  if
  :: stopping -> goto leave
  :: !stopping
  fi;
  // idle
#ifdef LIES_DOWN_EARLY
  may_be_called = IS_ENABLED(me);
  lies[me] = may_be_called;
#endif
  if
  :: inbox[me] != EMPTY -> goto awake
  :: d_step { inbox[me] == EMPTY -> inbox[me] = PARKED }
  fi;
#ifndef LIES_DOWN_EARLY
  may_be_called = IS_ENABLED(me);
#ifndef LIES_DOWN_LATE
  lies[me] = may_be_called;
#endif
#endif
#ifndef NO_LAST_LOOK
  if
  :: IS_ENABLED(me) ->
     look_at_shared();
     if
     :: seen -> goto take_back
     :: !seen
     fi
  :: !IS_ENABLED(me)
  fi;
#endif
#ifndef NO_LOOK_AT_HANDS
  look_who_offers();
  if
  :: other < DEVICES -> goto take_back
  :: other == DEVICES
  fi;
#endif
  if
  :: stopping || may_be_called != IS_ENABLED(me) -> goto take_back
  :: !stopping && may_be_called == IS_ENABLED(me)
  fi;
#ifdef LIES_DOWN_LATE
  lies[me] = may_be_called;
#endif
  inbox[me] != PARKED;  // sleep
  goto awake;

take_back:
#ifdef LIES_DOWN_LATE
  lies[me] = may_be_called;
#endif
#ifdef TAKEN_BACK_BLINDLY
  inbox[me] = EMPTY;
#else
  if
  :: d_step { inbox[me] == PARKED -> inbox[me] = EMPTY }
  :: inbox[me] != PARKED
  fi;
#endif

awake:
  // sleepers::get_up
  atomic { called = may_be_called && !lies[me]; lies[me] = false; may_be_called = false; other = 0; seen = false };
#ifndef GETS_UP_LATE
  if
  :: called ->
     on_their_way--;
     called = false;
#ifndef CALLED_IN_VAIN
     if
     :: !IS_ENABLED(me) ->
        look_at_shared();
        if
        :: seen || SOMEONE_OFFERS -> wake_for_shared(1)
        :: !seen && !SOMEONE_OFFERS
        fi;
        seen = false
     :: IS_ENABLED(me)
     fi
#endif
  :: !called
  fi;
#endif
  goto take;

leave:
  skip
}

#ifdef DISABLING
// scheduler::disable of device 0: the others are woken for what it leaves lying. Then, perhaps, enable.
proctype disabler() {
  byte k = 1;
  byte at, to_wake;
  enabled_of[0] = false;
#ifndef HAND_KEPT
  do
  :: d_step { at_hand[0] > 0 -> at_hand[0]-- };
     arrived++;
     wake_for_shared(1)
  :: at_hand[0] == 0 -> break
  od;
#endif
#ifndef DISABLED_QUIETLY
  if  // put_back or the shared queue: device_thread::enable
  :: arrived + sorted_count > 0 || SOMEONE_OFFERS -> wake_for_shared(1)
  :: arrived + sorted_count == 0 && !SOMEONE_OFFERS
  fi;
#endif
  if
  :: true
  :: enabled_of[0] = true;
     poke(0)
  fi
}
#endif

init {
  byte k;
  atomic {
    for (k : 0 .. DEVICES - 1) {
      run device(k)
    }
    for (k : 1 .. PUSHERS) {
      run pusher()
    }
#if PINNED
    for (k : 0 .. PINNED - 1) {
      run pinned_pusher(k)
    }
#endif
#ifdef DISABLING
    run disabler();
#endif
    k = 0
  };
  // The scheduler ends once all items have: scheduler_core::stop.
  ended == SHARED + PINNED;
#ifndef STOPPED_LATE
  stopping = true;
#endif
  do
  :: k < DEVICES -> poke(k); k++
  :: k == DEVICES -> break
  od;
  stopping = true;
  _nr_pr == 1;
  assert(arrived == 0 && sorted == 0 && sorted_count == 0 && !SOMEONE_LIES && on_their_way == 0 && !locked)
}
