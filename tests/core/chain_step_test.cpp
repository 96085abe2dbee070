// SPDX-License-Identifier: MIT
#include "core/chain_step.h"

#include <gtest/gtest.h>

namespace occupipe {
namespace {

TEST(ChainStep, IsNothingToTellWhereItIsOneInstruction) {
    EXPECT_EQ(chain_step_text({}), "");
    EXPECT_EQ(chain_step_text({{"FFMA", 1}}), "");
    EXPECT_EQ(chain_step_text({{"FFMA", 2}}), "2 FFMA");
    EXPECT_EQ(chain_step_text({{"SEL", 1}, {"ISETP", 1}}), "ISETP + SEL");
    EXPECT_EQ(chain_step_text({{"DSETP", 1}, {"FSEL", 2}}), "2 FSEL + DSETP");
}

// One move per iteration of 128 steps, and one in each of 64.
TEST(ChainStep, LeavesOutWhatStandsInFewerThanOneInAHundredSteps) {
    EXPECT_EQ(chain_step_text({{"PRMT", 1}, {"IMAD.MOV", 1.0 / 128}}), "");
    EXPECT_EQ(chain_step_text({{"PRMT", 127.0 / 128}, {"IMAD.MOV", 1.0 / 128}}), "");
    EXPECT_EQ(chain_step_text({{"PRMT", 1}, {"SEL", 1}, {"IMAD.MOV", 1.0 / 128}}), "PRMT + SEL");
    EXPECT_EQ(chain_step_text({{"PRMT", 1}, {"IMAD.MOV", 1.0 / 64}}), "PRMT + 0.016 IMAD.MOV");
}

}  // namespace
}  // namespace occupipe
