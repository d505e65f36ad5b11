// Timing samples, and the criterion that decides whether there are enough samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

class Samples {
 public:
  void add(double ms) {
    values_.push_back(ms);
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), ms), ms);
    total_ += ms;
  }

  const std::vector<double>& values() const { return values_; }
  long long count() const { return (long long)values_.size(); }
  double total() const { return total_; }
  double median() const { return quantile(0.5); }
  double spread() const { return (quantile(0.75) - quantile(0.25)) / median(); }

  // Returns whether the 95% confidence interval of the median has a half-width of at most 0.5% of the median. The
  // interval is between two order statistics, so it is valid for any distribution. The number of samples below the true
  // median is binomial. The interval needs at least six samples.
  bool settled(long long minimum) const {
    if (count() < minimum) return false;
    const long long below = lowRank(count());
    if (below == 0) return false;
    const double low = sorted_[below - 1], high = sorted_[count() - below];
    return (high - low) / 2 <= 0.005 * median();
  }

 private:
  // Returns the largest r with P(Binomial(n, 1/2) < r) <= 2.5%. The interval is [r-th smallest, r-th largest].
  static long long lowRank(long long n) {
    double cumulative = 0;
    for (long long r = 0;; ++r) {
      cumulative +=
          std::exp(std::lgamma(n + 1.0) - std::lgamma(r + 1.0) - std::lgamma(n - r + 1.0) - n * std::log(2.0));
      if (cumulative > 0.025) return r;
    }
  }

  double quantile(double q) const {
    const double position = q * double(count() - 1);
    const size_t low = size_t(position), high = std::min(low + 1, sorted_.size() - 1);
    return sorted_[low] + (position - double(low)) * (sorted_[high] - sorted_[low]);
  }

  std::vector<double> values_, sorted_;
  double total_ = 0;
};
