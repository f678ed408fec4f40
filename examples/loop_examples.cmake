# SPDX-License-Identifier: Apache-2.0
# The examples of loops over devices that have a folder each, and what each example of loops has to show.
heddle_loop_example(cg DEVICE_CODE cg/solve.cpp SOURCES cg/main.cpp)
heddle_loop_example(
  saxpy_file DEVICE_CODE saxpy_file/loops.cpp
  SOURCES saxpy_file/main.cpp saxpy_file/mapped_floats.cpp saxpy_file/memory_use.cpp image_batch/shown_name.cpp)

set(mandelbrot_wanted ON)
heddle_find_optional(mandelbrot_wanted "example mandelbrot" PNG libpng-dev)
if(mandelbrot_wanted)
  heddle_loop_example(
    mandelbrot DEVICE_CODE mandelbrot/compute.cpp
    SOURCES mandelbrot/main.cpp mandelbrot/check.cpp mandelbrot/tint.cpp image_batch/paint.cpp
            image_batch/shown_name.cpp image_batch/write_png.cpp
    LIBRARIES PNG::PNG)
endif()

if(NOT HEDDLE_BUILD_TESTS)
  return()
endif()

heddle_loop_example_test(cg)
heddle_loop_example_check(bits cg "same --points 70")
heddle_loop_example_check(bits_of_few cg "same --points 3 --look-every 7")
heddle_example_test(no_points cg 2 "--points: Value 0 not in range" --points 0)

heddle_loop_example_check(bits heat "same --points 61 --steps 300")
heddle_example_test(many_steps heat 2 "^--steps: after so many steps" --points 15 --steps 900000)
heddle_example_test(no_steps heat 2 "--steps: Value 0 not in range" --steps 0)

heddle_loop_example_check(bits monte_carlo_pi "same --points 1000003 --seed 3")
heddle_loop_example_check(one_point monte_carlo_pi "same --points 1")
heddle_example_test(no_points monte_carlo_pi 2 "--points: Value 0 not in range" --points 0)
heddle_example_test(no_seed monte_carlo_pi 2 "Could not convert: --seed" --seed x)

# A tenth of the bytes for the devices together; on the double each piece has to move through that.
heddle_loop_example_check(tenth_of_memory saxpy_file [[
    "$program" data --make 2000003
    HEDDLE_HOST_DEVICES=3 HEDDLE_HOST_MEMORY=533334 "$program" data -a 0.3
    if [ -n "$double" ]
    then
      HEDDLE_BACKEND=cuda FAKECUDA_DEVICES=3 FAKECUDA_BYTES=533334 "$double" data -a 0.3
    fi
    test "$(ls -A data | wc -l)" = 2
  ]])
# 64 MiB of data, a tenth of that for the devices together: what the program may have in memory besides the mapped
# files is limited to what it needs for hardly any data, and that tenth; on the double, whose devices' memory is the
# process's, twice: for the devices, and for the pieces on their way. The limit is RLIMIT_DATA, which counts private
# memory, and no shared mappings. Sanitizers need more of it than any limit would allow.
if(NOT HEDDLE_SANITIZE)
  heddle_loop_example_check(peak_memory saxpy_file [[
    # On one CPU, so that TBB starts as many threads for much data as for little: their stacks count.
    cpu=$(taskset -cp $$ | sed -e 's/.*: //' -e 's/[,-].*//')
    taskset -cp "$cpu" $$
    with_own() {
      (
        ulimit -c 0
        ulimit -s 256
        ulimit -d "$1"
        shift
        exec "$@"
      )
    }
    least() {
      enough=1048576
      too_little=0
      while [ $((enough - too_little)) -gt 256 ]
      do
        half=$(((enough + too_little) / 2))
        if with_own "$half" "$@" >all.txt 2>&1
        then
          enough=$half
        else
          too_little=$half
        fi
      done
      echo "$enough"
    }
    "$program" data --make 8388608
    "$program" few --make 20000
    cap=2236962
    tenth=$((3 * cap / 1024))
    export HEDDLE_HOST_DEVICES=3 HEDDLE_HOST_MEMORY=$cap FAKECUDA_DEVICES=3 FAKECUDA_BYTES=$cap
    own=$(least "$program" few)
    echo "$own KiB for little data, $tenth KiB more for all of it"
    with_own $((own + tenth)) "$program" data -a 0.3
    if [ -n "$double" ]
    then
      export HEDDLE_BACKEND=cuda
      own=$(least "$double" few)
      echo "on the double $own KiB for little data, $((2 * tenth)) KiB more for all of it"
      with_own $((own + 2 * tenth)) "$double" data -a 0.3
      # The limit counts what it should.
      ! with_own "$own" "$double" data >all.txt 2>&1
    fi
    rm -r data
  ]])
endif()
heddle_loop_example_check(bad_files saxpy_file [[
    refused "cannot read data/x.f32: No such file" "$program" data
    "$program" data --make 1000
    refused "data/x.f32 exists already" "$program" data --make 1000
    cp data/y.f32 before
    printf 12345 >data/x.f32
    refused "5 bytes, which is no whole number of floats" "$program" data
    printf 1234 >data/x.f32
    refused "x.f32 holds 1 floats and y.f32 1000" "$program" data
    rm data/x.f32
    mkdir data/x.f32
    refused "is not a file with data" "$program" data
    cmp before data/y.f32
    test "$(ls -A data | wc -l)" = 2
  ]])
heddle_loop_example_check(no_room saxpy_file [[
    (ulimit -f 100 && refused "cannot make data/x.f32: File too large" "$program" data --make 1000000)
    test "$(ls -A data | wc -l)" = 0
  ]])
heddle_example_test(no_folder saxpy_file 2 "FOLDER is required")
heddle_example_test(no_factor saxpy_file 2 "^-a: the factor has to be a finite number" -a nan folder)
heddle_example_test(negative_size saxpy_file 2 "--make: Value -1 not in range" --make -1 folder)

if(NOT mandelbrot_wanted)
  return()
endif()
heddle_loop_example_test(mandelbrot --size 480x320)
# The same file from every split and number of devices; one with tints has a key below, and differs.
heddle_loop_example_check(bytes mandelbrot [[
    for devices in 1 2 4
    do
      for each in $program $double
      do
        backend=host
        [ "$each" = "$program" ] || backend=cuda
        export HEDDLE_HOST_DEVICES=$devices FAKECUDA_DEVICES=$devices HEDDLE_BACKEND=$backend
        for split in even measured dynamic
        do
          "$each" --size 123x45 --split $split -o new.png
          [ -e first.png ] || cp new.png first.png
          cmp first.png new.png
          "$each" --size 123x45 --split $split -o tinted.png --show-devices
          ! cmp -s first.png tinted.png
        done
      done
    done
    HEDDLE_BACKEND=host "$program" --size 1x1
    test "$(ls -A | wc -l)" = 4
  ]])
heddle_loop_example_check(bad_file mandelbrot [[
    mkfifo pipe
    refused "cannot write pipe: it is there, and is no regular file" "$program" --size 4x4 -o pipe
    test -p pipe
    "$program" --size 4x4 -o there.png
    "$program" --size 8x8 -o expected.png
    ln -s there.png link.png
    "$program" --size 8x8 -o link.png
    test -L link.png
    cmp there.png expected.png
    test ! -e .image_batch-*
  ]])
heddle_example_test(bad_size mandelbrot 2 "^--size: 12 is not a size: it takes WIDTHxHEIGHT" --size 12)
heddle_example_test(bad_split mandelbrot 2 "--split: odd not in" --split odd)
heddle_example_test(bad_folder mandelbrot 2 "^--out: /no/such is not a folder" -o /no/such/picture.png)
