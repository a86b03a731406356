#include <set>

#include "cases/policy/policy.h"

namespace torchstone::policy {
namespace {

using Models = std::set<std::string>;

// Eager Adam alone makes these differ (pytorch issue 115966).
const Models always_sgd{"BERT_pytorch",
                        "LearningToPaint",
                        "alexnet",
                        "dcgan",
                        "demucs",
                        "densenet121",
                        "dlrm",
                        "fastNLP_Bert",
                        "mobilenet_v2",
                        "phlippe_densenet",
                        "phlippe_resnet",
                        "pytorch_stargan",
                        "resnet18",
                        "shufflenet_v2_x1_0",
                        "speech_transformer",
                        "squeezenet1_1",
                        "stable_diffusion_text_encoder",
                        "vgg16",
                        "AlbertForMaskedLM",
                        "BartForCausalLM",
                        "ElectraForCausalLM",
                        "M2M100ForConditionalGeneration",
                        "MBartForCausalLM",
                        "OPTForCausalLM",
                        "PLBartForCausalLM",
                        "PegasusForCausalLM",
                        "TrOCRForCausalLM",
                        "XGLMForCausalLM",
                        "adv_inception_v3",
                        "ghostnet_100",
                        "tf_efficientnet_b0"};

const Models sgd_in_ci{"torchrec_dlrm",
                       "detectron2_fasterrcnn_r_101_c4",
                       "detectron2_fasterrcnn_r_101_dc5",
                       "detectron2_fasterrcnn_r_101_fpn",
                       "detectron2_fasterrcnn_r_50_c4",
                       "detectron2_fasterrcnn_r_50_dc5",
                       "detectron2_fasterrcnn_r_50_fpn",
                       "detectron2_maskrcnn_r_101_c4",
                       "detectron2_maskrcnn_r_101_fpn",
                       "detectron2_maskrcnn_r_50_c4",
                       "detectron2_maskrcnn_r_50_fpn",
                       "llama_v2_7b_16h",
                       "mobilenet_v2_quantized_qat",
                       "resnet50_quantized_qat",
                       "BlenderbotForCausalLM",
                       "DALLE2_pytorch",
                       "moco",
                       "timm_efficientdet",
                       "inception_v3",
                       "mobilevit_s",
                       "pytorch_CycleGAN_and_pix2pix",
                       "vision_maskrcnn",
                       "resnet50",
                       "dm_nfnet_f0"};

const Models sgd_with_inductor{"convnextv2_nano.fcmae_ft_in22k_in1k", "vit_base_patch14_dinov2.lvd142m"};

const Models no_optimizer{"MobileBertForMaskedLM"};

}  // namespace

Optimizing optimizer_of(const Conditions& when) {
  if (no_optimizer.contains(when.model)) return {OptimizerKind::none, "upstream's list of models without an optimizer"};
  if (always_sgd.contains(when.model)) return {OptimizerKind::sgd, "upstream's list of models for SGD"};
  if (sgd_in_ci.contains(when.model)) return {OptimizerKind::sgd, "upstream's list of models for SGD in CI"};
  if (when.check == Check::accuracy && when.device == "cuda" && when.inductor && sgd_with_inductor.contains(when.model))
    return {OptimizerKind::sgd, "upstream's list of models for SGD with inductor"};
  if (when.dtype == DType::float16 && !when.amp)
    return {OptimizerKind::sgd, "Adam's epsilon, 1e-8, is zero in float16: NaN after a step"};
  return {OptimizerKind::adam, "upstream's default"};
}

}  // namespace torchstone::policy
