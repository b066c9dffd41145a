"""All that virtual GPUs play: operators of torch, and calls of `torch.cuda`; every other one is refused."""

from __future__ import annotations

from enum import Enum


class OperatorRule(Enum):
    """Rule of an operator for arguments on several devices (native_functions.yaml, `device_check`)."""

    ELEMENTWISE = "one device, and scalars of the host (TensorIterator)"
    ONE_DEVICE = "one device"
    STRUCTURED = "one device, and its kernel is named without its overload"
    INDEXED = "one device, and indices of the host"


def _rule(rule: OperatorRule, names: str) -> dict[str, OperatorRule]:
    return dict.fromkeys(names.split(), rule)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


OPERATORS = (
    _rule(
        OperatorRule.ELEMENTWISE,
        """
        abs add addcdiv addcmul all amax amin any arange argmax argmin bernoulli binary_cross_entropy
        binary_cross_entropy_backward bitwise_and bitwise_not bitwise_or bitwise_xor ceil clamp clamp_max
        clamp_min cos cumsum div elu elu_backward eq exp eye fill floor floor_divide fmod ge gelu
        gelu_backward gt hardtanh hardtanh_backward huber_loss huber_loss_backward isnan le leaky_relu
        leaky_relu_backward lerp linalg_vector_norm linspace log log1p log2 logical_and logical_not
        logical_or logical_xor lt masked_fill max maximum mean min minimum mse_loss mse_loss_backward mul
        ne neg normal pow prod random randperm reciprocal relu remainder round rsqrt rsub sigmoid
        sigmoid_backward sign silu sin smooth_l1_loss smooth_l1_loss_backward softplus
        softplus_backward sqrt std std_mean sub sum tanh tanh_backward threshold threshold_backward tril
        triu trunc uniform var var_mean where zero
        """,
    )
    | _rule(
        OperatorRule.STRUCTURED,
        """
        _log_softmax _log_softmax_backward_data _softmax _softmax_backward_data addmm addmv avg_pool2d
        avg_pool2d_backward baddbmm bmm cat gather max_pool2d_with_indices
        max_pool2d_with_indices_backward mm nll_loss_backward nll_loss_forward scatter scatter_add topk
        """,
    )
    | _rule(
        OperatorRule.ONE_DEVICE,
        """
        _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _slow_conv2d_forward _thnn_fused_lstm_cell
        _thnn_fused_lstm_cell_backward_impl convolution convolution_backward count_nonzero dot
        embedding_dense_backward equal flip index_select masked_select multinomial
        native_batch_norm native_batch_norm_backward native_dropout native_dropout_backward
        native_layer_norm native_layer_norm_backward nonzero sort vdot
        """,
    )
    | _rule(OperatorRule.INDEXED, "_index_put_impl index")
)
"""By name, without the overload and without the underscore of those that work in place. What torch composes
of them is played as well: `matmul`, `linear`, `matrix_power`, `lstm`, `batch_norm`, losses, optimizers, …"""

MEMORY = _words("""
    _local_scalar_dense _reshape_alias _to_copy as_strided copy_ empty.memory_format empty_strided resize_
    set_ set_.source_Storage set_.source_Storage_storage_offset set_.source_Tensor unfold view
""")
"""Operators on where a tensor lies, not on what it holds; of these, copies alone are recorded."""

CALLS = _words("""
    Event Stream StreamContext current_device current_stream default_stream device device_count device_of
    empty_cache get_device_name get_device_properties get_rng_state get_rng_state_all init initial_seed
    is_available is_current_stream_capturing is_initialized manual_seed manual_seed_all
    max_memory_allocated memory_allocated reset_peak_memory_stats seed seed_all set_device set_rng_state
    set_rng_state_all set_stream stream synchronize
""")
"""Of `torch.cuda`."""

REFUSED = ("is_shared", "pin_memory", "share_memory_")
"""Methods of tensors that would go on, and be something else than on a GPU."""
