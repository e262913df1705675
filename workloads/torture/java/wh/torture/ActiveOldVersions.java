// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** What has activations below which its class changes. */
public interface ActiveOldVersions {
  long around(int levels, Runnable redefinition);
}
