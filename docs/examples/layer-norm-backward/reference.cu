#include "kl_reference.h"

#include <cmath>

// Stores the mean and rstd of each token from the forward pass.
extern "C" void kl_inputs(const KlReference* p) {
  for (long long token = 0; token < p->B * p->T; ++token) {
    const float* x = p->x + token * p->C;
    double mean = 0, variance = 0;
    for (long long c = 0; c < p->C; ++c) mean += x[c];
    mean /= double(p->C);
    for (long long c = 0; c < p->C; ++c) variance += (x[c] - mean) * (x[c] - mean);
    p->mean[token] = float(mean);
    p->rstd[token] = float(1 / std::sqrt(variance / double(p->C) + 1e-5));
  }
}

extern "C" void kl_reference(const KlReference* p) {
  for (long long c = 0; c < p->C; ++c) p->dgamma[c] = p->dbeta[c] = p->dgamma_scale[c] = p->dbeta_scale[c] = 0;
  for (long long b = 0; b < p->B; ++b)
    for (long long t = 0; t < p->T; ++t) {
      const long long token = b * p->T + t, first = token * p->C;
      if (t >= p->length[b]) {
        for (long long c = 0; c < p->C; ++c) p->dx_mask[first + c] = 0;
        continue;
      }
      const double mean = p->mean[token], rstd = p->rstd[token];
      double sum = 0, weighted = 0;
      for (long long c = 0; c < p->C; ++c) {
        const double dy = p->dy[first + c], normalized = (p->x[first + c] - mean) * rstd;
        sum += dy * p->gamma[c];
        weighted += dy * p->gamma[c] * normalized;
        p->dgamma[c] += dy * normalized;
        p->dbeta[c] += dy;
        p->dgamma_scale[c] += std::fabs(dy * normalized);
        p->dbeta_scale[c] += std::fabs(dy);
      }
      for (long long c = 0; c < p->C; ++c) {
        const double normalized = (p->x[first + c] - mean) * rstd;
        p->dx[first + c] =
            rstd * (p->dy[first + c] * p->gamma[c] - (sum + normalized * weighted) / double(p->C));
      }
      p->progress(double(token) / double(p->B * p->T));
    }
}
