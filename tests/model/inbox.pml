// SPDX-License-Identifier: Apache-2.0
// src/device/inbox.hpp: producers push, somebody pokes, and the consumer takes all there is, parks, and sleeps on
// the word. Whatever the order: each item is taken once, those of a producer in the order of their pushes; a
// consumer that sleeps for good has nothing in its inbox; each park is ended by one thread, which alone makes the
// call that wakes. What a relaxed load may see late is here a load that may see an old value.
//
// scripts/model.sh runs it with each of these, and finds nothing wrong:
// holds: -DPRODUCERS=2 -DEACH=2 -DPOKES=1
// holds: -DPRODUCERS=3 -DEACH=1 -DPOKES=1
// and with each of these, where something is:
// breaks: PARK_WITHOUT_LOOKING   the consumer parks with a plain store, over what has arrived
// breaks: PUSH_WITHOUT_COMPARING a push is a load and a store in place of a compare-exchange
// breaks: WAKE_DECIDED_EARLY     whether to wake is decided by the first load, not by what the push replaced
// breaks: SLEEP_WITHOUT_COMPARING the kernel does not look at the word again before it lets the consumer sleep
// breaks: POKE_WITHOUT_COMPARING a poke is a load and a store in place of a compare-exchange
// breaks: UNPARK_WITHOUT_COMPARING the consumer takes its park back with a plain store
// breaks: TAKE_WITHOUT_EXCHANGE  the consumer takes with a load and a store in place of an exchange
// breaks: WAKE_FORGOTTEN         a push that ended a park does not wake

#ifndef PRODUCERS
#define PRODUCERS 2
#define EACH 2
#define POKES 1
#endif
#define ITEMS (PRODUCERS * EACH)

#define EMPTY 0
#define PARKED 1
#define AS_WORD(item) (item + 2)
#define AS_ITEM(word) (word - 2)
#define NONE 255

byte word = EMPTY;
byte next_of[ITEMS] = NONE;

bool asleep = false;  // the consumer, in the kernel
byte told = 1;        // how many have been told to wake, for the newest park
byte owed = 0;        // wakes that somebody has been told to make and has not made yet

byte taken = 0;
byte last_of[PRODUCERS] = NONE;  // taken of each producer
bool consumer_ended = false;

// Who has ended the park.
inline tell() {
  told++;
  owed++;
  assert(told == 1)
}

inline wake() {
  d_step {
    asleep = false;
    owed--
  }
}

inline push(arrival) {
  if
  :: old = word
  :: old = EMPTY  // an old value
  :: old = PARKED
  fi;
#ifdef WAKE_DECIDED_EARLY
  first_seen = old;
#endif
  do
  :: d_step { next_of[arrival] = (old <= PARKED -> NONE : AS_ITEM(old)) };
#ifdef PUSH_WITHOUT_COMPARING
     old = word;
     word = AS_WORD(arrival);
     if
     :: old == PARKED -> tell(); wake()
     :: else
     fi;
     break
#else
     if
     :: atomic {
          word == old ->
          word = AS_WORD(arrival);
#ifdef WAKE_DECIDED_EARLY
          old = first_seen;
#endif
          if
          :: old == PARKED -> tell()
          :: else
          fi
        };
        if
#ifndef WAKE_FORGOTTEN
        :: old == PARKED -> wake()
#endif
        :: else
        fi;
        break
     :: old = word  // it differs, or the exchange has failed without cause
     fi
#endif
  od
}

proctype producer(byte me) {
  byte old, first_seen, k;
  byte first = me * EACH;
  k = 0;
  do
  :: k < EACH -> push(first + k); k++
  :: else -> break
  od
}

proctype poker() {
  byte k = 0;
  do
  :: k < POKES ->
     k++;
     if
#ifdef POKE_WITHOUT_COMPARING
     :: word == PARKED -> atomic { word = EMPTY; tell() }; wake()
     :: word != PARKED
#else
     :: atomic { word == PARKED -> word = EMPTY; tell() }; wake()
     :: word != PARKED
#endif
     fi
  :: else -> break
  od
}

inline take() {
  old = EMPTY;
  if
  :: true  // an old value: nothing
  :: word > PARKED ->
#ifdef TAKE_WITHOUT_EXCHANGE
     old = word;
     word = EMPTY
#else
     d_step { old = word; word = EMPTY }
#endif
  :: word <= PARKED
  fi;
  d_step {
    // Newest first: turned round, as the ready queue does.
    at = (old <= PARKED -> NONE : AS_ITEM(old));
    before = NONE;
    do
    :: at != NONE -> old = next_of[at]; next_of[at] = before; before = at; at = old
    :: else -> break
    od;
    at = before;
    do
    :: at != NONE ->
       if
       :: last_of[at / EACH] == NONE -> assert(at % EACH == 0)
       :: else -> assert(at == last_of[at / EACH] + 1)
       fi;
       last_of[at / EACH] = at;
       taken++;
       at = next_of[at]
    :: else -> break
    od;
    at = NONE;
    before = NONE;
    old = EMPTY
  }
}

// futex_wait: sleeps if the word still says so.
inline wait_in_kernel() {
#ifdef SLEEP_WITHOUT_COMPARING
  asleep = true
#else
  d_step {
    if
    :: word == PARKED -> asleep = true
    :: else
    fi
  }
#endif
}

inline unpark() {
#ifdef UNPARK_WITHOUT_COMPARING
  word = EMPTY
#else
  d_step {
    if
    :: word == PARKED -> word = EMPTY
    :: else
    fi
  }
#endif
}

proctype consumer() {
  byte old, at, before;
  do
  :: taken == ITEMS -> break
  :: else ->
     take();
     if
     :: taken == ITEMS -> break
#ifdef PARK_WITHOUT_LOOKING
     :: d_step { taken < ITEMS -> word = PARKED; told = 0 };
#else
     :: taken < ITEMS && word != EMPTY  // try_park says no
     :: d_step { taken < ITEMS && word == EMPTY -> word = PARKED; told = 0 };
#endif
        if
        :: do  // sleep
           :: word == PARKED ->
              wait_in_kernel();
              if
              :: !asleep
              :: asleep = false  // without cause
              fi
           :: word != PARKED -> break
           od
        :: do  // the same, but the kernel never wakes without cause
           :: word == PARKED -> wait_in_kernel(); !asleep
           :: word != PARKED -> break
           od
        :: if  // sleep_until, and no time limit passes before a wake
           :: word == PARKED -> wait_in_kernel(); !asleep
           :: word != PARKED
           fi;
           unpark()
        :: if  // sleep_until, and its limit passes
           :: word == PARKED -> wait_in_kernel(); asleep = false
           :: word != PARKED
           fi;
           unpark()
        :: unpark()  // the last look at the other queues has found something
        fi
     fi
  od;
  consumer_ended = true
}

// Somebody who sleeps beside items, or after its park has ended, is about to be woken.
proctype watcher() {
end:
  atomic { asleep && word != PARKED && owed == 0 -> assert(false) }
}

init {
  byte k;
  atomic {
    run watcher();
    run consumer();
    run poker();
    for (k : 0 .. PRODUCERS - 1) {
      run producer(k)
    }
  };
  _nr_pr == 2;  // this one and the watcher
  assert(consumer_ended && taken == ITEMS && owed == 0 && word == EMPTY)
}
