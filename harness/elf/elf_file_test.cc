// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/elf_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/testing/fails_with.h"
#include "harness/elf/elf_image.h"
#include "harness/store/record_testing.h"

namespace walkhammer {
namespace {

// A run folder may name any path as the file that was covered.
TEST(ElfFile, OnlyRegularFilesAreRead) {
  const TemporaryFolder dir;
  const std::string pipe = dir.Under("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int writer = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  self.read(head.data(), static_cast<std::streamsize>(head.size()));
  ASSERT_EQ(write(writer, head.data(), head.size()), static_cast<ssize_t>(head.size()));
  for (const std::string& path : {pipe, std::string("/dev/zero"), dir.path()}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(ElfFile(path).get(), nullptr);
    EXPECT_THAT(ElfImage::Open(path),
                FailsWith(ExitCode::kBadInput, path + " is not a regular file"));
  }
  // Nobody has read the pipe.
  EXPECT_EQ(read(writer, head.data(), head.size()), static_cast<ssize_t>(head.size()));
  close(writer);
  EXPECT_NE(ElfFile("/proc/self/exe").get(), nullptr);
  EXPECT_EQ(ElfFile(dir.Under("absent")).error(), ENOENT);
}

}  // namespace
}  // namespace walkhammer
